"""The lock around a section of commands only: they are sent together with the lock's own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fairlock.clock import Clock, SystemClock
from fairlock.queue import HANDOVER_S, WaitQueue


class FusedLock:
    """A fair lock that reads the section's keys on acquire, and writes on release.

    If the caller still holds the lock, the release writes, frees the lock and calls the next waiter
    in one step. A section takes two round trips, and never writes without the lock.
    """

    def __init__(
        self, client: Any, name: str, lease_s: float = HANDOVER_S, *, clock: Clock | None = None
    ) -> None:
        """`client` is redis-py's. All keys read or written share the name's hash tag.

        `lease_s` is the longest time that the section may take, from the grant on. Then the
        caller counts as frozen: the next waiter is called, and a late write is refused.
        """
        self.clock = clock or SystemClock()
        self.queue = WaitQueue(
            client, name, lease_s, clock=self.clock, handover_s=lease_s, tokens=0
        )

    def acquire(self, reads: Sequence[str], timeout_s: float) -> list[Any] | None:
        """Return the values (bytes or None) of the keys `reads`, in order.

        None if the turn did not come in `timeout_s`. Raises redis.RedisError when the server
        does not answer.
        """
        # A token for each turn: a message to an earlier turn must not count for this one.
        self.token = self.clock.token()
        grant = self.queue.acquire(self.token, True, timeout_s, reads)
        return None if grant is None else grant.values

    def release(self, *commands: Sequence[Any]) -> bool:
        """Run `commands` (name, key, ...) and release. False: too late, nothing was done.

        A command that answers nil (SET with NX or XX) was refused: the commands after it are not
        done, and the result is False, too. Raises redis.RedisError: whether it was done is unknown.
        """
        return self.queue.release(self.token, commands)
