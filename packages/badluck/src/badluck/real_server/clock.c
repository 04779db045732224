/* In front of a real server (LD_PRELOAD): its wall clock says what a file says.
 *
 * The file, named by BADLUCK_CLOCK, holds milliseconds since 1970 as one 64-bit integer, and is
 * mapped, so that a change is seen at once. The monotonic clock, by which the server does what it
 * does every so often, is left alone. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static volatile int64_t *said;

__attribute__((constructor)) static void map_clock(void) {
  const char *path = getenv("BADLUCK_CLOCK");
  int file = path ? open(path, O_RDONLY) : -1;
  if (file < 0) return;
  void *page = mmap(NULL, sizeof *said, PROT_READ, MAP_SHARED, file, 0);
  if (page != MAP_FAILED) said = page;
  close(file);
}

int clock_gettime(clockid_t id, struct timespec *now) {
  if (!said || (id != CLOCK_REALTIME && id != CLOCK_REALTIME_COARSE))
    return syscall(SYS_clock_gettime, id, now);
  int64_t ms = *said;
  now->tv_sec = ms / 1000;
  now->tv_nsec = ms % 1000 * 1000000;
  return 0;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone) {
  struct timespec exact;
  (void)zone;
  clock_gettime(CLOCK_REALTIME, &exact);
  now->tv_sec = exact.tv_sec;
  now->tv_usec = exact.tv_nsec / 1000;
  return 0;
}

time_t time(time_t *also) {
  struct timespec exact;
  clock_gettime(CLOCK_REALTIME, &exact);
  if (also) *also = exact.tv_sec;
  return exact.tv_sec;
}
