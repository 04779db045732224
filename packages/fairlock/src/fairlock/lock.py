"""The fair lock with redis-py's interface: change the import, keep the code.

    from fairlock import Lock            # was: from redis.lock import Lock
    with Lock(client, "report", timeout=10): ...
    with client.lock("report", timeout=10, lock_class=Lock): ...

Arguments, methods and exceptions are those of redis.lock.Lock (redis-py 8.1). `sleep` is accepted
and ignored: there is no polling. Additions: `renew`, `cohort`, `handover_s`, `fence`, `lost`,
`on_loss`.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from types import SimpleNamespace, TracebackType
from typing import Any, Literal, Self

from redis.exceptions import LockError, LockNotOwnedError

from fairlock.clock import Clock, SystemClock
from fairlock.cohort import Held
from fairlock.contender import Contender
from fairlock.queue import HANDOVER_S

log = logging.getLogger(__name__)


class Lock:
    """A fair, distributed lock with redis.lock.Lock's interface."""

    def __init__(
        self,
        redis: Any,
        name: str | bytes | memoryview,
        timeout: float | None = None,
        sleep: float = 0.1,
        blocking: bool = True,
        blocking_timeout: float | None = None,
        thread_local: bool = True,
        raise_on_release_error: bool = True,
        *,
        renew: bool = False,
        cohort: int = 0,
        handover_s: float = HANDOVER_S,
        clock: Clock | None = None,
    ) -> None:
        """Take the arguments of redis.lock.Lock, in s. `timeout` is the lease, None: forever.

        `renew` keeps the lease alive while the thread that acquired lives; it needs `timeout`. It
        renews each third of the lease, so one renewal may be late by two thirds, or two may fail.
        `cohort` is how often threads of this process may pass the lock on among themselves before
        other processes' turn: 64 gives two to three times the throughput, in a less strict order.
        `handover_s` is how long a waiter may take to accept the lock before it is passed over.
        """
        lease_s = timeout or None  # 0 means no lease, too, as in redis-py
        if renew and lease_s is None:
            raise LockError("renew needs a lease: pass a timeout", lock_name=str(name))
        self.redis = redis
        self.name = bytes(name).decode() if isinstance(name, bytes | memoryview) else name
        self.timeout = timeout
        self.sleep = sleep
        self.blocking = blocking
        self.blocking_timeout = blocking_timeout
        self.thread_local = bool(thread_local)
        self.raise_on_release_error = raise_on_release_error
        self.renew = renew
        self.clock = clock or SystemClock()
        self.contender, self.alone = (
            Contender(
                redis, self.name, lease_s, clock=self.clock, cohort=passes, handover_s=handover_s
            )
            for passes in (cohort, 0)
        )
        self.local: Any = threading.local() if self.thread_local else SimpleNamespace()
        self.local.token = self.local.hold = None
        self.callbacks: list[Callable[[], object]] = []

    def acquire(
        self,
        sleep: float | None = None,
        blocking: bool | None = None,
        blocking_timeout: float | None = None,
        token: str | bytes | None = None,
    ) -> bool:
        """Return whether the caller got the lock, after `blocking_timeout` s in line at most.

        With a `token`, the thread stands in line alone: a cohort shares its leader's token.
        Raises redis.RedisError when the server does not answer.
        """
        if blocking is None:
            blocking = self.blocking
        if blocking_timeout is None:
            blocking_timeout = self.blocking_timeout
        contender = self.contender if token is None else self.alone
        owner = token.decode() if isinstance(token, bytes) else token or self.clock.token()
        held = contender.acquire(owner, blocking, blocking_timeout)
        if held is None:
            return False
        self.local.token = held.token.encode()
        self.local.hold = Hold(contender, held, self.callbacks)
        if self.renew and self.timeout is not None:
            self.local.hold.keep_alive(self.timeout / 3)
        return True

    def release(self) -> None:
        """Hand the lock to the next in line. Raises LockError, LockNotOwnedError."""
        hold = self._hold("Cannot release a lock that's not owned or is already unlocked.")
        self.local.token = self.local.hold = None
        if not hold.release():
            raise LockNotOwnedError("Cannot release a lock that's no longer owned", self.name)

    def extend(self, additional_time: float, replace_ttl: bool = False) -> Literal[True]:
        """Add to the lease, or set a new one. Raises LockError, LockNotOwnedError."""
        hold = self._hold("Cannot extend an unlocked lock")
        if self.timeout is None:
            raise LockError("Cannot extend a lock with no timeout", self.name)
        if not hold.extend(additional_time, more=not replace_ttl):
            raise LockNotOwnedError("Cannot extend a lock that's no longer owned", self.name)
        return True

    def reacquire(self) -> Literal[True]:
        """Set the lease to `timeout` again. Raises LockError, LockNotOwnedError."""
        hold = self._hold("Cannot reacquire an unlocked lock")
        if self.timeout is None:
            raise LockError("Cannot reacquire a lock with no timeout", self.name)
        if not hold.extend(self.timeout):
            raise LockNotOwnedError("Cannot reacquire a lock that's no longer owned", self.name)
        return True

    def locked(self) -> bool:
        """Ask the server whether any client holds the lock."""
        return self.redis.get(self.name) is not None

    def owned(self) -> bool:
        """Ask the server whether the caller holds the lock."""
        token = getattr(self.local, "token", None)
        return token is not None and self.redis.get(self.name) in (token, token.decode())

    @property
    def lost(self) -> bool:
        """Say whether the holder knows that it has lost the lock. Sends no command."""
        hold: Hold | None = getattr(self.local, "hold", None)
        return hold is not None and hold.lost

    @property
    def fence(self) -> int | None:
        """Return the fencing token, higher than every earlier holder's; None without the lock."""
        hold: Hold | None = getattr(self.local, "hold", None)
        return hold.held.fence if hold else None

    def on_loss(self, callback: Callable[[], object]) -> None:
        """Call `callback` when a loss is noticed, in the thread that notices it."""
        self.callbacks.append(callback)

    def __enter__(self) -> Self:
        if self.acquire():
            return self
        raise LockError("Unable to acquire lock within the time specified", self.name)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        try:
            self.release()
        except LockError:
            if self.raise_on_release_error:
                raise
            log.warning("%s was released or lost before its section ended", self.name)

    def _hold(self, error: str) -> Hold:
        hold: Hold | None = getattr(self.local, "hold", None)
        if hold is None:
            raise LockError(error, self.name)
        return hold


class Hold:
    """One thread's hold on the lock; stored per thread, or in the Lock."""

    def __init__(
        self, contender: Contender, held: Held, callbacks: list[Callable[[], object]]
    ) -> None:
        self.contender = contender
        self.held = held
        self.callbacks = callbacks
        self.noticed = self.released = False
        self.stop: Callable[[], None] = lambda: None

    @property
    def lost(self) -> bool:
        return self.noticed or self.contender.clock.now() >= self.held.ends

    def keep_alive(self, every_s: float) -> None:
        self.stop = self.contender.clock.every(every_s, self.renew)

    def renew(self) -> bool:
        renewed = self.contender.renew(self.held)
        # A lock that was released during the renewal is not lost.
        return not self.released and self._still(renewed)

    def extend(self, lease_s: float, more: bool = False) -> bool:
        return self._still(self.contender.extend(self.held, lease_s, more))

    def release(self) -> bool:
        self.stop()
        self.released = True
        return self._still(self.contender.release(self.held))

    def _still(self, mine: bool) -> bool:
        if not mine and not self.noticed:
            self.noticed = True
            for call_back in self.callbacks:
                call_back()
        return mine
