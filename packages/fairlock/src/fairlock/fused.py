"""The lock around a section that is itself commands: they travel with it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fairlock.clock import Clock, SystemClock
from fairlock.queue import HANDOVER_S, WaitQueue


class FusedLock:
    """Acquire brings what is to be read; release writes, frees and calls the next, in one step, if
    the lock is still mine. Two round trips a section, and no blind write.
    """

    def __init__(
        self, client: Any, name: str, lease_s: float = HANDOVER_S, *, clock: Clock | None = None
    ) -> None:
        """`client` is redis-py's. All keys that are read or written share the name's hash tag.

        `lease_s` is the most that the section takes, from the call on: who takes longer is frozen,
        the next one is called, and its write will be refused.
        """
        self.clock = clock or SystemClock()
        self.queue = WaitQueue(
            client, name, lease_s, clock=self.clock, handover_s=lease_s, tokens=0
        )

    def acquire(self, reads: Sequence[str], timeout_s: float) -> list[Any] | None:
        """The values (bytes or None) of the keys `reads`, in order; None when my turn did not come
        within `timeout_s`. Raises redis.RedisError when the server does not answer.
        """
        # A token for each turn: a message to an earlier one must not pass for this one's.
        self.token = self.clock.token()
        grant = self.queue.acquire(self.token, True, timeout_s, reads)
        return None if grant is None else grant.values

    def release(self, *commands: Sequence[Any]) -> bool:
        """Do `commands` (name, key, ...) and go. False: too late, nothing was done.

        One that answers nil (SET with NX or XX) was refused: none behind it is done, and it is
        False, too. Raises redis.RedisError: whether it was done is unknown.
        """
        return self.queue.release(self.token, commands)
