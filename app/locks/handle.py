"""What all locks do in the same way: wait, count, be a context manager, tell of a loss."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from types import TracebackType
from typing import ClassVar, Self

from app.domain import Clock, LockLost
from app.store.servers import Servers


@dataclass(slots=True)
class Counts:
    """What one handle has done so far."""

    attempts: int = 0  # tries to acquire
    waits: int = 0  # acquires that did not succeed at the first try
    renewals: int = 0
    losses: int = 0


class Handle(ABC):
    """One holder's handle on one lock; made anew for each critical section.

    A recipe writes `attempt` and `free`, the commands that make the lock. Where it allows them it
    also has `extend(seconds) -> bool`, `owned() -> bool`, `locked() -> bool` and the fencing token
    `fence`; a recipe without one of them cannot do it.
    """

    name: ClassVar[str]
    exhibit: ClassVar[bool]  # broken on purpose, to be looked at; never a default
    # Round trips and commands of an acquire and a release that meet nobody; SQL's are not counted.
    cost: ClassVar[tuple[int, int]]
    tutorials: ClassVar[tuple[int, ...]]  # those of the five that teach it
    needs: ClassVar[str] = "store"  # what of `Servers` it lives in
    outlived: ClassVar[bool] = True  # does work that is longer than the lease lose the lock?

    def __init__(self, servers: Servers, clock: Clock, key: str, lease: float) -> None:
        """`key` names the lock; `lease` is its lifetime in seconds, if it has one."""
        self.servers = servers
        self.clock = clock
        self.key = key
        self.lease = lease
        self.counts = Counts()
        self.ends: float | None = None  # when my lease ends at the latest, by `clock.now()`
        self._lost = False
        self._noticed = count()
        self._to_tell: list[Callable[[], object]] = []

    @abstractmethod
    def attempt(self) -> bool:
        """Try once, without waiting. True: the lock is mine."""

    @abstractmethod
    def free(self) -> bool:
        """Give it back. False: it had gone to nobody or to somebody else."""

    def pause(self) -> float:
        """Seconds to wait before the next attempt."""
        # A random 1 to 5 ms: all waiters at the same beat would meet at every beat.
        return 0.001 + self.clock.random() * 0.004

    def acquire(self, blocking: bool = True, timeout: float | None = None) -> bool:
        """True: the lock is mine. Waits for ever, or `timeout` s, or not at all.

        Raises the error of the client whose server does not answer.
        """
        deadline = None if timeout is None else self.clock.now() + timeout
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
        """Let a moment pass. False, and none has: it would be after the deadline."""
        pause = self.pause()
        if deadline is not None and self.clock.now() + pause > deadline:
            return False
        self.clock.sleep(pause)
        return True

    def release(self) -> bool:
        """True: the lock was still mine. False: it had gone to nobody or to somebody else."""
        still_mine = self.free()
        self.ends = None
        if not still_mine:
            self.lose()
        return still_mine

    @property
    def lost(self) -> bool:
        """Is it known that the lock is not mine any more? To be asked inside the section."""
        return self._lost or (self.ends is not None and self.clock.now() >= self.ends)

    def on_loss(self, tell: Callable[[], object]) -> None:
        """Call `tell` once when the loss is noticed, in the thread that notices it."""
        self._to_tell.append(tell)

    def lose(self) -> None:
        """Note that the lock is not mine any more."""
        self._lost = True
        # Whoever renews it and whoever releases it may notice at once; only one of them is first.
        if next(self._noticed) == 0:
            self.counts.losses += 1
            for tell in self._to_tell:
                tell()

    def __enter__(self) -> Self:
        self.acquire()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        """Release. Raises LockLost, unless the section has failed already."""
        if not self.release() and error is None:
            raise LockLost(f"{self.key} was not mine any more when its section ended.")
