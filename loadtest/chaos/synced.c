/* In front of a real server (LD_PRELOAD): notes how much of its log is on the disk.
 *
 * The file named by CHAOS_SYNCED holds two 64-bit integers, mapped: the inode of the log that was
 * synced last, and the length that it had when that sync began. All before it is safe; of what is
 * behind it the server knows nothing yet. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static volatile int64_t *synced;

__attribute__((constructor)) static void map_synced(void) {
  const char *path = getenv("CHAOS_SYNCED");
  int file = path ? open(path, O_RDWR) : -1;
  if (file < 0) return;
  void *page = mmap(NULL, 2 * sizeof *synced, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (page != MAP_FAILED) synced = page;
  close(file);
}

static int is_log(int file) {
  char link[40], name[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  ssize_t length = readlink(link, name, sizeof name - 1);
  if (length < 9) return 0;
  name[length] = 0;
  return strcmp(name + length - 9, ".incr.aof") == 0;
}

int fdatasync(int file) {
  struct stat before;
  int known = synced && is_log(file) && fstat(file, &before) == 0;
  int failed = syscall(SYS_fdatasync, file);
  if (known && !failed) {
    synced[0] = before.st_ino;
    synced[1] = before.st_size;
  }
  return failed;
}
