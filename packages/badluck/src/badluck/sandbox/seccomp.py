"""System calls that the kernel refuses to a user's code, in C too; Linux, by libseccomp.

Audit hooks, as limits.py has them, see what Python's own functions do, and name the line. They do
not see what ctypes or a library in C does. The filter lists the allowed calls, not the forbidden
ones: so a system call that is new, or that the list's author has not thought of, is refused.

libseccomp comes with apt, and elsewhere mostly with systemd. It is called without a wrapper:
docs/decisions/badluck.md says why.
"""

from __future__ import annotations

import ctypes
import errno
import os
import sys
from collections.abc import Iterator, Sequence
from typing import NamedTuple

# Reading, and calls that affect only the process itself.
ALLOWED = """
    read readv pread64 preadv write writev pwrite64 close close_range lseek dup dup2 dup3 fstat stat
    lstat newfstatat statx statfs fstatfs access faccessat faccessat2 readlink readlinkat getdents
    getdents64 getcwd chdir fchdir umask getxattr lgetxattr fgetxattr fadvise64 pipe pipe2 eventfd2
    poll ppoll select pselect6 epoll_create epoll_create1 epoll_ctl epoll_wait epoll_pwait
    sendto recvfrom sendmsg recvmsg shutdown getsockopt setsockopt getsockname getpeername
    brk mmap munmap mremap mprotect madvise mincore msync futex get_robust_list set_robust_list
    rseq membarrier arch_prctl set_tid_address sched_yield sched_getaffinity sched_getparam
    sched_getscheduler getcpu getpriority restart_syscall rt_sigaction rt_sigprocmask rt_sigpending
    rt_sigreturn rt_sigtimedwait rt_sigsuspend sigaltstack pause nanosleep clock_nanosleep time
    times clock_gettime clock_getres gettimeofday getitimer getrusage getrlimit sysinfo uname
    getrandom getpid getppid gettid getpgrp getpgid getsid getuid geteuid getgid getegid getresuid
    getresgid getgroups capget wait4 waitid exit exit_group
"""

ALLOW, REFUSE, NO_SUCH_CALL = 0x7FFF0000, 0x50000 | errno.EPERM, 0x50000 | errno.ENOSYS
TELL = 0x30000  # refuse with SIGSYS, so that the calling code is named
EQUAL, MASKED = 4, 7
PR_SET_SECCOMP, FILTER = 22, 2
AF_UNIX, INTERNET = 1, (2, 10)
SOCK_STREAM, SOCK_TYPE = 1, 0xF
CLONE_THREAD = 0x10000
WRITING = os.O_ACCMODE | os.O_CREAT | os.O_TRUNC  # bits of flags; without any of them it only reads
DESCRIPTORS = (0, 1, 2, 3, 4, 1030)  # of fcntl: F_DUPFD to F_SETFL, F_DUPFD_CLOEXEC; no locks
TERMINALS = (0x5401, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451)  # of ioctl: kind, and how it reads

KEPT_OUT = "no network, no files written, no other processes"


class Compare(ctypes.Structure):
    """`struct scmp_arg_cmp`: an argument of a system call, counted from 0."""

    _fields_ = (
        ("argument", ctypes.c_uint),
        ("how", ctypes.c_int),
        ("mask", ctypes.c_uint64),  # the value, for EQUAL
        ("value", ctypes.c_uint64),
    )


class Rule(NamedTuple):
    call: str
    action: int
    when: Sequence[Compare] = ()  # all of them


def _library() -> ctypes.CDLL | None:
    if sys.platform != "linux":
        return None
    try:
        library = ctypes.CDLL("libseccomp.so.2")
    except OSError:
        return None
    library.seccomp_init.restype = ctypes.c_void_p
    library.seccomp_load.argtypes = library.seccomp_release.argtypes = (ctypes.c_void_p,)
    library.seccomp_rule_add_array.argtypes = (
        *(ctypes.c_void_p, ctypes.c_uint32, ctypes.c_int, ctypes.c_uint, ctypes.c_void_p),
    )
    return library


LIBRARY = _library()


def is_available() -> bool:
    """Can the kernel do it? Asked in a way that changes nothing."""
    if LIBRARY is None:
        return False
    libc = ctypes.CDLL(None, use_errno=True)
    return libc.prctl(PR_SET_SECCOMP, FILTER, None) == -1 and ctypes.get_errno() == errno.EFAULT


def isolation_text() -> str:
    if is_available():
        return f"{KEPT_OUT}: the kernel refuses them"
    return f"{KEPT_OUT} from Python; C code is not kept out here: that needs Linux and libseccomp"


def confine(signals: Sequence[int] = ()) -> None:
    """Confine this process, forever. `signals`: the other processes that it may send signals to.

    Where the kernel cannot do this, nothing is confined. Raises OSError when the kernel can, and
    fails.
    """
    sys.dont_write_bytecode = True  # for later imports
    if LIBRARY is None or not is_available():
        return
    made = LIBRARY.seccomp_init(REFUSE)
    try:
        for call, action, when in (*_rules(), *_signalling((os.getpid(), *signals))):
            number = LIBRARY.seccomp_syscall_resolve_name(call.encode())
            if number >= 0:  # this kind of machine has it
                compared = (Compare * len(when))(*when)
                _check(LIBRARY.seccomp_rule_add_array(made, action, number, len(when), compared))
        _check(LIBRARY.seccomp_load(made))
    finally:
        LIBRARY.seccomp_release(made)


def _rules() -> Iterator[Rule]:
    yield from (Rule(name, ALLOW) for name in ALLOWED.split())
    for call, flags in (("open", 1), ("openat", 2)):
        yield Rule(call, ALLOW, [Compare(flags, MASKED, WRITING, 0)])
        for bits in (os.O_WRONLY, os.O_RDWR, os.O_ACCMODE):
            yield Rule(call, TELL, [Compare(flags, MASKED, os.O_ACCMODE, bits)])
        for bit in (os.O_CREAT, os.O_TRUNC):
            yield Rule(call, TELL, [Compare(flags, MASKED, bit, bit)])
    yield from (Rule("socket", TELL, [Compare(0, EQUAL, family)]) for family in INTERNET)
    # Both ends in this process; a datagram socket could send to another process.
    pair = [Compare(0, EQUAL, AF_UNIX), Compare(1, MASKED, SOCK_TYPE, SOCK_STREAM)]
    yield Rule("socketpair", ALLOW, pair)
    yield Rule("clone", ALLOW, [Compare(0, MASKED, CLONE_THREAD, CLONE_THREAD)])
    yield Rule("clone", TELL, [Compare(0, MASKED, CLONE_THREAD, 0)])
    yield Rule("clone3", NO_SUCH_CALL)  # its arguments are in memory; libc then uses clone
    yield from (Rule(call, TELL) for call in ("fork", "vfork", "execve", "execveat"))
    yield from (Rule("fcntl", ALLOW, [Compare(1, EQUAL, what)]) for what in DESCRIPTORS)
    yield from (Rule("ioctl", ALLOW, [Compare(1, EQUAL, what)]) for what in TERMINALS)
    yield Rule("prlimit64", ALLOW, [Compare(2, EQUAL, 0)])  # it reads a limit, and sets none


def _signalling(processes: Sequence[int]) -> Iterator[Rule]:
    for process in processes:
        yield from (Rule(call, ALLOW, [Compare(0, EQUAL, process)]) for call in ("kill", "tgkill"))


def _check(result: int) -> None:
    if result < 0:
        raise OSError(-result, f"libseccomp: {os.strerror(-result)}")
