"""Per-process replacements for actors: time, randomness, threads.

Code outside of an actor uses the system's own.
"""

from __future__ import annotations

import _thread
import datetime
import gc
import os
import queue
import random
import sched
import signal
import sys
import threading
import time
import timeit
import uuid
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, NoReturn, Self

from greenlet import GreenletExit, getcurrent

from badluck.actor import asyncio_patches, code_warnings, randomness, threads, user_code_error
from badluck.actor.actor import Fiber, here
from badluck.actor.patching import Replacement, in_fiber, replaced

OURS = "badluck."  # which mean what they say, also where they are installed
LIBRARIES = ("/site-packages/", "/dist-packages/")


def taken(replacements: Sequence[Replacement]) -> Iterator[Replacement]:
    """Yield the same replacements for libraries that hold the original under a name of their own.

    (Each actor imports a project's modules again, after everything has been replaced.)
    """
    instead = {id(vars(owner)[name]): value for owner, name, value in replacements}
    for module in list(sys.modules.values()):
        file = str(getattr(module, "__file__", None)).replace("\\", "/")
        if module.__name__.startswith(OURS) or not any(folder in file for folder in LIBRARIES):
            continue
        for name, held in list(vars(module).items()):
            if id(held) in instead:
                yield module, name, instead[id(held)]


# They read the clock for their own figures, and decide nothing by it. (redis.lock does.)
FIGURES = ("redis.", "logging")
WALL = ("time", "time_ns")  # its result is compared with others' clocks
CLOCKS = (*WALL, "monotonic", "monotonic_ns", "perf_counter", "perf_counter_ns")

OF_THE_CPU, WORKED = ("process_time", "thread_time"), 0.05  # s; it differs between runs
TURNED = ("gmtime", "localtime", "ctime")  # of their arguments, or else of the current time
CLOCKS_BY_NUMBER = ("clock_gettime", "clock_gettime_ns")

WAIT_BY = ((threading, "_time"), (queue, "time"))  # their name for time.monotonic
WAITS = tuple(module.__name__ for module, _ in WAIT_BY)

OF_A_THREAD = ("__init__", "start", "run", "is_alive", "join")
WHICH = ("current_thread", "main_thread")
STARTS = [  # a thread; the names are Python 3.11's to 3.13's
    (module, name)
    for module in (_thread, threading)
    for what in ("start_new_thread", "start_joinable_thread")
    for name in (what, f"_{what}")
    if hasattr(module, name)
]


def _clock(name: str) -> Callable[[], float]:
    real = getattr(time, name)
    wall, nanoseconds = name in WALL, name.endswith("_ns")

    def read() -> float:
        if not isinstance(getcurrent(), Fiber):
            return float(real()) if not nanoseconds else int(real())
        actor = here().actor
        asks = sys._getframe(1).f_globals.get("__name__", "")
        if asks == "redis.lock" or not asks.startswith(FIGURES):
            actor.ask_clock(of_a_wait=asks in WAITS)
            actor.tells_time = actor.tells_time or asks not in WAITS
        now = actor.now if wall else actor.uptime
        return now * 1_000_000 if nanoseconds else now / 1000

    return read


def _turned(name: str) -> Callable[..., Any]:
    real = getattr(time, name)
    return lambda seconds=None: real(time.time() if seconds is None else seconds)


def _strftime(shape: str, when: Any = None) -> str:
    return _real_strftime(shape, time.localtime() if when is None else when)


def _asctime(when: Any = None) -> str:
    return _real_asctime(time.localtime() if when is None else when)


_real_strftime, _real_asctime = time.strftime, time.asctime


def _by_number(name: str) -> Callable[[int], float]:
    def read(number: int) -> Any:
        clock = "time" if number == time.CLOCK_REALTIME else "monotonic"
        return getattr(time, clock + "_ns" * name.endswith("_ns"))()

    return in_fiber(getattr(time, name), read)


def _sleep(seconds: float) -> None:
    if here().actor.over:
        raise GreenletExit
    if seconds < 0:
        raise ValueError("sleep length must be non-negative")
    threads.sleep(seconds)


class Datetime(datetime.datetime):
    """A datetime class with a now() that asks the clock above."""

    @classmethod
    def now(cls, tz: datetime.tzinfo | None = None) -> Self:
        return cls.fromtimestamp(time.time(), tz)

    @classmethod
    def utcnow(cls) -> Self:
        return cls.fromtimestamp(time.time(), datetime.UTC).replace(tzinfo=None)

    @classmethod
    def today(cls) -> Self:
        return cls.fromtimestamp(time.time())


class Scheduler(sched.scheduler):
    """A scheduler that reads clock and sleep when it is made, and not when it is imported."""

    def __init__(
        self,
        timefunc: Callable[[], float] | None = None,
        delayfunc: Callable[[float], object] | None = None,
    ) -> None:
        super().__init__(timefunc or time.monotonic, delayfunc or time.sleep)


def _of_a_thread(name: str) -> Callable[..., Any]:
    """Return a method for subclasses that libraries have made of the real Thread."""
    real, ours = (getattr(kind, name) for kind in (threading.Thread, threads.Thread))
    if isinstance(real, property):
        real, ours = real.fget, ours.fget

    def does(thread: threading.Thread, *args: Any, **kwargs: Any) -> Any:
        begins = name == "__init__"
        is_ours = isinstance(getcurrent(), Fiber) if begins else hasattr(thread, threads.OURS)
        return (ours if is_ours else real)(thread, *args, **kwargs)

    return does


def _refuse_thread(*_: Any, **__: Any) -> NoReturn:
    raise user_code_error.refuse_here(
        "starts a thread without threading.Thread, or one that was made before its work"
    )


@contextmanager
def of_its_own() -> Iterator[dict[int, Any]]:
    """Yield the replacements of the system's functions, by the ids of the originals."""
    instead: list[Replacement] = [
        *((time, name, _clock(name)) for name in CLOCKS),
        *((time, name, in_fiber(getattr(time, name), lambda: WORKED)) for name in OF_THE_CPU),
        *((time, name, _turned(name)) for name in TURNED),
        *((time, name, _by_number(name)) for name in CLOCKS_BY_NUMBER),
        (time, "strftime", _strftime),
        (time, "asctime", _asctime),
        (time, "sleep", in_fiber(time.sleep, _sleep)),
        (timeit, "default_timer", _clock("perf_counter")),
        (sched, "scheduler", Scheduler),
        (datetime, "datetime", Datetime),
        code_warnings.NOTING,
        # No actor gets a signal, and Ctrl-C is the search's.
        (signal, "signal", in_fiber(signal.signal, lambda number, _: signal.getsignal(number))),
        *((random, name, randomness.drawing(name)) for name in randomness.DRAWS),
        (random, "Random", randomness.SeededRandom),
        (random, "_urandom", randomness.urandom(os.urandom)),  # secrets asks it
        (os, "urandom", randomness.urandom(os.urandom)),
        (uuid, "uuid1", randomness.a_uuid(uuid.uuid1)),
        (uuid, "uuid4", randomness.a_uuid(uuid.uuid4)),
        (gc, "collect", in_fiber(gc.collect, lambda generation=2: 0)),  # see Actor: garbage waits
        (os, "getpid", in_fiber(os.getpid, lambda: 1000 + ord(here().actor.name))),
        *((threading.Thread, name, _of_a_thread(name)) for name in OF_A_THREAD),
        (threading.Thread, "ident", property(_of_a_thread("ident"))),
        (threading, "Thread", threads.Thread),
        *((module, name, in_fiber(vars(module)[name], _refuse_thread)) for module, name in STARTS),
        (threading, "Event", threads.FiberEvent),
        (threading, "Lock", in_fiber(threading.Lock, threads.FiberLock)),
        (threading, "_allocate_lock", in_fiber(threading.Lock, threads.FiberLock)),
        (threading, "RLock", in_fiber(threading.RLock, threading._PyRLock)),  # type: ignore[attr-defined]
        *((module, name, _clock("monotonic")) for module, name in WAIT_BY),
        (queue, "SimpleQueue", in_fiber(queue.SimpleQueue, queue._PySimpleQueue)),  # type: ignore[attr-defined]
        (threading, "Timer", threads.Timer),
        (threading, "local", threads.FiberLocal),
        *((threading, name, _identified(name)) for name in ("get_ident", "get_native_id")),
        *(
            (threading, name, in_fiber(getattr(threading, name), getattr(threads, name)))
            for name in WHICH
        ),
        (ThreadPoolExecutor, "_counter", staticmethod(in_fiber(_real_pools, _pools))),
        *asyncio_patches.instead(),
    ]
    with code_warnings.of_what_was_forgotten(), replaced(*instead, *taken(instead)) as known:
        yield known


_real_pools = ThreadPoolExecutor._counter  # type: ignore[attr-defined]


def _pools() -> int:
    """Return how many pools it has made: their threads' names show the number."""
    here().actor.pools += 1
    return here().actor.pools - 1


def _identified(name: str) -> Callable[[], Any]:
    return in_fiber(getattr(threading, name), threads.get_ident)
