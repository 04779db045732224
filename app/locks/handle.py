"""The base of all locks: wait, count, act as a context manager, report a lost lock."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from itertools import count
from types import TracebackType
from typing import Any, ClassVar, ParamSpec, Self, TypedDict, TypeVar

from app.domain import Clock, LockBusy, LockLost

LEASE_S = 10.0  # the default, as in the tutorials

Given = ParamSpec("Given")
Result = TypeVar("Result")


@dataclass(slots=True)
class LockCounts:
    """Counts of one handle's actions so far."""

    attempts: int = 0  # tries to acquire
    waits: int = 0  # acquires that did not succeed at the first try
    renewals: int = 0
    losses: int = 0


class How(TypedDict, total=False):
    """Optional arguments of every recipe, after the client, the key and the lease."""

    prefix: str  # of the key
    wait_s: float | None  # longest wait for the lock; None: forever
    poll_s: tuple[float, float]  # the shortest and the longest pause between two tries
    clock: Clock


class Handle(ABC):
    """One client's handle on one lock, made for one critical section.

    A recipe defines `attempt` and `free`, with the commands that take and release the lock. It may
    also define `extend(lease_s) -> bool`, `owned() -> bool`, `locked() -> bool` and the fencing
    token `fence`. Where one of these is missing, the recipe does not support it.
    """

    name: ClassVar[str]
    exhibit: ClassVar[bool]  # broken on purpose, for teaching; never a default
    # Round trips and commands of an uncontended acquire and release; SQL's are not counted.
    cost: ClassVar[tuple[int, int]]
    tutorials: ClassVar[tuple[int, ...]]  # which of the five teach it
    needs: ClassVar[str] = "store"  # the kind of client that it needs, by its name in `Servers`
    outlived: ClassVar[bool] = True  # does work that is longer than the lease lose the lock?
    whole_seconds: ClassVar[bool] = False  # is its lease rounded up to whole seconds?
    # A random pause: waiters with equal pauses would meet at every poll.
    poll_s: tuple[float, float] = (0.001, 0.005)

    def __init__(
        self,
        client: Any,
        key: str,
        lease_s: float = LEASE_S,
        *,
        prefix: str = "",
        wait_s: float | None = None,
        poll_s: tuple[float, float] | None = None,
        clock: Clock | None = None,
    ) -> None:
        """`client` reaches the server; `key` is the lock's name there, `lease_s` its lifetime."""
        self.client = client
        self.key = prefix + key
        self.lease_s = self.granted(lease_s)
        self.wait_s = wait_s
        self.poll_s = poll_s or self.poll_s
        self.clock = clock or Clock()
        self.counts = LockCounts()
        self.ends: float | None = None  # the lease's end by `clock.now()`, or a moment before it
        self._lost = False
        self._noticed = count()
        self._callbacks: list[Callable[[], object]] = []

    @abstractmethod
    def attempt(self) -> bool:
        """Try once to take the lock, without waiting. Return whether that succeeded."""

    @abstractmethod
    def free(self) -> bool:
        """Release the lock. False: it had expired, or another client holds it."""

    @classmethod
    def granted(cls, lease_s: float) -> float:
        """Return the lease granted for `lease_s`: rounded up if `whole_seconds`."""
        return math.ceil(lease_s) if cls.whole_seconds else lease_s

    def acquire(
        self, blocking: bool = True, wait_s: float | None = None, lease_s: float | None = None
    ) -> bool:
        """Take the lock. Return whether that succeeded. Unless `blocking`, try only once.

        `wait_s` and `lease_s` are the handle's own unless they are given. If the server does not
        answer, raises the error of its client.
        """
        if lease_s is not None:
            self.lease_s = self.granted(lease_s)
        return self.obtain(blocking, self.wait_s if wait_s is None else wait_s)

    def obtain(self, blocking: bool, wait_s: float | None) -> bool:
        """Take the lock by polling."""
        deadline = None if wait_s is None else self.clock.now() + wait_s
        first = self.counts.attempts + 1
        while True:
            if self._try():
                return True
            if not blocking or not self._wait(deadline):
                return False
            self.counts.waits += self.counts.attempts == first

    def _try(self) -> bool:
        self.counts.attempts += 1
        return self.attempt()

    def _wait(self, deadline: float | None) -> bool:
        """Pause. Return False at once if the pause would end after the deadline."""
        shortest, longest = self.poll_s
        pause = shortest + self.clock.random() * (longest - shortest)
        if deadline is not None and self.clock.now() + pause > deadline:
            return False
        self.clock.sleep(pause)
        return True

    @property
    def owner(self) -> str:
        """The key's value while this handle holds the lock; "" if a value proves nothing."""
        return ""

    def release(self) -> bool:
        """Release the lock. False, and counted as a loss: this handle did not hold it any more."""
        still_mine = self.free()
        self.ends = None
        if not still_mine:
            self.lose()
        return still_mine

    @property
    def lost(self) -> bool:
        """Is it known that the lock is lost? Ask inside the critical section."""
        return self._lost or (self.ends is not None and self.clock.now() >= self.ends)

    def on_loss(self, callback: Callable[[], object]) -> None:
        """Call `callback` once when the loss is noticed, in the thread that notices it."""
        self._callbacks.append(callback)

    def lose(self) -> None:
        """Note that the lock is lost, and call the callbacks once."""
        self._lost = True
        # A renewal and a release may notice the loss at the same time; only the first one counts.
        if next(self._noticed) == 0:
            self.counts.losses += 1
            for callback in self._callbacks:
                callback()

    def __enter__(self) -> Self:
        """Acquire. Raises LockBusy if that did not succeed in time."""
        if not self.acquire():
            raise LockBusy(f"{self.key} was not free within {self.wait_s} s.")
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        """Release. Raises LockLost, unless the section has failed already."""
        if not self.release() and error is None:
            raise LockLost(f"{self.key} was lost before its section ended.")

    def __call__(self, function: Callable[Given, Result]) -> Callable[Given, Result]:
        """Decorate `function`: each call is a critical section, with a handle of its own.

        Raises what the context manager raises.
        """

        @wraps(function)
        def locked(*args: Given.args, **kwargs: Given.kwargs) -> Result:
            how: How = {"wait_s": self.wait_s, "poll_s": self.poll_s, "clock": self.clock}
            with type(self)(self.client, self.key, self.lease_s, **how):
                return function(*args, **kwargs)

        return locked
