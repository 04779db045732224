"""The line of waiters for one lock: acquire, extend and release it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import redis

from fairlock.clock import Clock
from fairlock.connections import connections, process
from fairlock.scripts import RELEASE, TAKE
from fairlock.waiter import Grant, Waiter

HANDOVER_S = 0.1  # that a waiter has to take the lock; then the next in line gets it
# Before each retry after the connection broke: the server may be restarting. 0.46 s in all, so that
# a web server can still answer 503 within a second.
RETRY_PAUSES_S = (0.01, 0.05, 0.1, 0.3)


class Counts(Protocol):
    """Counters that the lock's owner wants."""

    attempts: int  # scripts that asked for the lock
    waits: int  # acquires that did not succeed at the first try


class WaitQueue:
    """One lock and its line of waiters. Threads may share it."""

    def __init__(
        self,
        client: Any,
        name: str,
        lease_s: float | None,
        *,
        clock: Clock,
        handover_s: float = HANDOVER_S,
        tokens: int = 1,
        counts: Counts | None = None,
    ) -> None:
        """Without `lease_s` it has no end; `tokens` fencing tokens come with each grant."""
        self.client = client
        self.name = name
        self.clock = clock
        self.lease_s = lease_s
        self.handover_s = handover_s
        self.tokens = tokens
        self.tag = name if "{" in name else f"{{{name}}}"
        self.keys = [name, f"{self.tag}:line", f"{self.tag}:fence", f"{self.tag}:asked"]
        self.counts = counts

    def acquire(
        self, token: str, blocking: bool, timeout_s: float | None, reads: Sequence[str] = ()
    ) -> Grant | None:
        """Return the granted lock; None if not granted within `timeout_s` (None: forever).

        With `reads` the values of these keys come with the lock. A waiter does not take the lock
        for the whole lease then: after `handover_s`, release() may return False.
        Raises redis.RedisError when the server does not answer.
        """
        deadline = math.inf if timeout_s is None else self.clock.now() + timeout_s
        return Waiter(self, token, reads).acquire(blocking, deadline)

    def extend(self, token: str, lease_s: float | None, more: bool = False) -> float | None:
        """Let the lease end in `lease_s`, or add that much to it (`more`).

        Returns when it ends, by `clock.now()`; None, and nothing is done, if `token` does not own
        the lock.
        """
        mine = connections(self.client, self.tag)
        args = [token, self.in_ms(lease_s), *(["more"] if more else [])]
        sent = self.clock.now()
        # A resend may extend the lease twice; that does no harm.
        left_ms = self.retry(lambda _: mine.call(TAKE, self.keys[:1], args))
        return None if left_ms == 0 else math.inf if left_ms < 0 else sent + left_ms / 1000

    def release(
        self, token: str, commands: Sequence[Sequence[Any]] = (), ends: float = math.inf
    ) -> bool:
        """Run `commands` and hand the lock over, in one step. False: `token` does not own it.

        With commands it is sent once. Raises redis.RedisError: whether they ran is unknown.
        `ends` is when the lease ends, by `clock.now()`.
        """
        args: list[Any] = [token, self.process()]
        for command in commands:
            args += [len(command), *command]
        keys = [*self.keys, *dict.fromkeys(command[1] for command in commands)]
        mine = connections(self.client, self.tag)
        if commands:
            return bool(mine.call(RELEASE, keys, args))

        def ask(again: bool) -> bool:
            # The retry may find that `token` does not own the lock: the first command released it
            # and its answer got lost, or the lease had ended before. After `ends` both are
            # possible, and the answer must be False.
            return bool(mine.call(RELEASE, keys, args)) or (again and self.clock.now() < ends)

        return bool(self.retry(ask))

    def retry(self, call: Callable[[bool], Any]) -> Any:
        """Run an idempotent `call`, and retry it after connection errors. It gets True on a retry.

        Each call has the token, so a second one changes nothing. Raises redis.ConnectionError.
        """
        for attempt, pause in enumerate((*RETRY_PAUSES_S, None)):
            try:
                return call(attempt > 0)
            except redis.ConnectionError:
                if pause is None:
                    raise
                self.clock.sleep(pause)
        raise AssertionError("unreachable")

    def count_attempt(self) -> None:
        if self.counts is not None:
            self.counts.attempts += 1

    def count_wait(self) -> None:
        if self.counts is not None:
            self.counts.waits += 1

    def ends(self, sent: float) -> float:
        """Return the earliest end of a lease that was asked for at `sent`."""
        return math.inf if self.lease_s is None else sent + self.lease_s

    def process(self) -> str:
        """Return this process's unique name: see connections.py."""
        return process(self.client)

    @staticmethod
    def in_ms(seconds: float | None) -> int:
        return 0 if seconds is None else max(1, round(seconds * 1000))
