"""Threads of an actor's own code: each is one more fiber, and the search chooses which runs next.

A thread continues after its actor's work, as in a process that lives on, as long as any actor is at
work. Between two commands, only one order of the threads' changes to shared variables is tried: a
thread runs until it sends something, rests or ends.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any
from weakref import WeakKeyDictionary

from greenlet import GreenletExit, getcurrent, greenlet

from badluck.actor import user_code_error
from badluck.actor.actor import Fiber, ask, here
from badluck.actor.request import NEVER, RAISED, Done, Failed, Request, Rest

OURS = "_Thread__over"  # marks a thread that was made in a fiber
SHORT_SLEEP_S = 0.2  # s; shorter sleeps are polls or backoffs, and take no time


class Thread:
    """A threading.Thread of fibers; subclasses that libraries have made get these methods, too."""

    def __init__(
        self,
        group: None = None,
        target: Callable[..., object] | None = None,
        name: str | None = None,
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
        *,
        daemon: bool | None = None,
    ) -> None:
        self._initialized = True  # the real one's name and daemon are properties that ask for it
        self._started, self.__over = FiberEvent(), FiberEvent()
        self.__ident: int | None = None
        self.__named = name is not None
        self.name = name or "a thread"
        self.daemon = bool(daemon)
        self.__does = (target, tuple(args), dict(kwargs or {}))

    def run(self) -> None:
        target, args, kwargs = self.__does
        if target is not None:
            target(*args, **kwargs)

    def start(self) -> None:
        if self._started.is_set():
            raise RuntimeError("threads can only be started once")
        self._started.set()
        actor = here().actor
        fiber = Fiber(actor, lambda _: _work_of(self.run, self.__over), Rest(actor.now))
        fiber.woken = fiber.outlives = True
        if by := actor.code.files.innermost(sys._getframe(1)):
            fiber.started = by.f_code.co_filename, by.f_lineno
        actor.begin(fiber)
        fiber.thread, self.__ident = self, _ident(fiber)
        if not self.__named:
            target = getattr(self.__does[0], "__name__", "")  # as Python calls it
            self.name = f"Thread-{actor.fibers.index(fiber)}" + (f" ({target})" if target else "")

    @property
    def ident(self) -> int | None:
        return self.__ident

    def is_alive(self) -> bool:
        return self._started.is_set() and not self.__over.is_set()

    def join(self, timeout: float | None = None) -> None:
        if not self._started.is_set():
            raise RuntimeError("cannot join thread before it is started")
        if isinstance(getcurrent(), Fiber):  # at the end of the whole process a pool joins its own
            self.__over.wait(timeout)


def _work_of(run: Callable[[], object], over: FiberEvent) -> Request:
    actor = here().actor
    try:
        run()
    except (GreenletExit, user_code_error.UserCodeError):
        raise
    except (*user_code_error.EXPECTED, SystemExit):
        pass  # a real thread prints it on standard error, and ends
    except BaseException as error:
        if actor.over:
            raise GreenletExit from None
        if not isinstance(error, Exception) or isinstance(error, MemoryError):
            raise user_code_error.user_error(error, actor) from error
        actor.end(
            RAISED + user_code_error.describe_error(error, actor.code.files).partition("\n")[0]
        )
        return Done("")
    over.set()
    return Done("")


class FiberEvent:
    """A threading.Event of fibers."""

    def __init__(self) -> None:
        self._is_set = False
        self._waits: list[Fiber] = []

    def is_set(self) -> bool:
        return self._is_set

    def set(self) -> None:
        self._is_set = True
        for fiber in self._waits:
            fiber.woken = True

    def clear(self) -> None:
        self._is_set = False

    def wait(self, timeout: float | None = None) -> bool:
        fiber = here()
        others = any(
            other is not fiber and not isinstance(other.request, Done | Failed)
            for other in fiber.actor.fibers
        )
        if self._is_set:
            return True
        if timeout is not None and not others:
            sleep(timeout)  # no other fiber can set it meanwhile
            return self._is_set
        self._waits.append(fiber)
        rest(timeout)
        self._waits.remove(fiber)
        return self._is_set


class FiberLock:
    """A threading.Lock of fibers; the standard library's waiting classes are built on it.

    (RLock, Condition, Semaphore, Barrier, queue.Queue, ThreadPoolExecutor.) The fiber that has
    waited longest gets it next.
    """

    def __init__(self) -> None:
        self._is_held = False
        self._waits: list[Fiber] = []

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:
        if not blocking and timeout != -1:
            raise ValueError("can't specify a timeout for a non-blocking call")
        if timeout < 0 and timeout != -1:
            raise ValueError("timeout value must be a non-negative number")
        if not self._is_held:
            self._is_held = True
            return True
        if not blocking or not timeout or not isinstance(getcurrent(), Fiber):
            return False
        fiber = here()
        self._waits.append(fiber)
        rest(None if timeout == -1 else timeout)
        if fiber not in self._waits:
            return True
        self._waits.remove(fiber)
        return False

    def release(self) -> None:
        if not self._is_held:
            raise RuntimeError("release unlocked lock")
        if self._waits:
            self._waits.pop(0).woken = True
        else:
            self._is_held = False

    def locked(self) -> bool:
        return self._is_held

    def _at_fork_reinit(self) -> None:
        """Reset after a fork; some modules ask for this method when they are imported."""
        self.__init__()  # type: ignore[misc]

    def waiting(self) -> int:
        return len(self._waits)

    def __enter__(self) -> bool:
        return self.acquire()

    def __exit__(self, *_: object) -> None:
        self.release()


class Timer(Thread):
    """A threading.Timer of fibers."""

    def __init__(
        self,
        interval: float,
        function: Callable[..., object],
        args: Sequence[Any] | None = None,
        kwargs: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(target=function, args=args or (), kwargs=kwargs)
        self.interval = interval
        self.finished = FiberEvent()

    def cancel(self) -> None:
        self.finished.set()

    def run(self) -> None:
        if not self.finished.wait(self.interval):
            super().run()


class FiberLocal:
    """A threading.local of fibers: each thread sees its own values only."""

    def __init__(self) -> None:
        values_by_fiber: WeakKeyDictionary[greenlet, dict[str, Any]] = WeakKeyDictionary()
        object.__setattr__(self, "_kept", values_by_fiber)

    def __getattr__(self, name: str) -> Any:
        try:
            return self._own()[name]
        except KeyError:
            text = f"'_thread._local' object has no attribute {name!r}"
            raise AttributeError(text) from None

    def __setattr__(self, name: str, value: Any) -> None:
        self._own()[name] = value

    def __delattr__(self, name: str) -> None:
        del self._own()[name]

    def _own(self) -> dict[str, Any]:
        values_by_fiber: dict[greenlet, dict[str, Any]] = object.__getattribute__(self, "_kept")
        return values_by_fiber.setdefault(getcurrent(), {})

    def everybodys(self) -> list[dict[str, Any]]:
        """Return all threads' values, in the order in which the threads came."""
        values_by_fiber: dict[greenlet, dict[str, Any]] = object.__getattribute__(self, "_kept")
        return list(values_by_fiber.values())


class MainThread:
    """The current_thread() of a fiber without a Thread: an actor's work, above all."""

    daemon = False

    def __init__(self, fiber: Fiber) -> None:
        self.ident = _ident(fiber)
        self.name = "MainThread"


def current_thread() -> Any:
    return _thread(here())


def main_thread() -> Any:
    return _thread(here().actor.fibers[0])


def _thread(fiber: Fiber) -> Any:
    fiber.thread = fiber.thread or MainThread(fiber)
    return fiber.thread


def get_ident() -> int:
    return _ident(here())


def _ident(fiber: Fiber) -> int:
    return 1000 * ord(fiber.actor.name) + fiber.actor.fibers.index(fiber)


def sleep(seconds: float) -> None:
    """Make a sleep of the work a step, unless it is SHORT and the work does more than sleep."""
    fiber = here()
    if fiber is not fiber.actor.fibers[0]:
        rest(seconds)  # and lets the other fibers run
        return
    fiber.actor.slept += seconds
    if fiber.actor.slept >= SHORT_SLEEP_S:
        until = fiber.actor.look_at_clock() + round(fiber.actor.slept * 1000)
        ask(Rest(until + 1, "has slept", sleeps=True))  # it always takes a little longer


def rest(seconds: float | None) -> None:
    """Rest until another fiber wakes this one, or until the time is over."""
    until = NEVER if seconds is None else here().actor.look_at_clock() + round(seconds * 1000)
    ask(Rest(until))
