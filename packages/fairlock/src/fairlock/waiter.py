"""One waiter's way to a lock: enqueue, be called, accept the lock, or give up."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import redis

from fairlock.connections import connections
from fairlock.scripts import ACQUIRE, LEAVE

if TYPE_CHECKING:
    from fairlock.queue import WaitQueue

FIRST_CHECK_S = 0.15  # in line without a message, after which a waiter asks once for its position
STAGGER_S = 0.005  # between two waiters' checks whether the holder's lease has ended
NO_LEASE_CHECK_S = 30.0  # between two checks of a lock that has no lease
_encode = json.JSONEncoder(separators=(",", ":")).encode


@dataclass(frozen=True, slots=True)
class Grant:
    """A granted lock; `fence` is the first of the requested fencing tokens."""

    fence: int
    values: list[Any]  # of the keys that were to be read
    ends: float  # when the lease ends at the latest, by `clock.now()`


class Waiter:
    """One acquire of a WaitQueue, for one thread and one token."""

    def __init__(self, queue: WaitQueue, token: str, reads: Sequence[str]) -> None:
        self.queue = queue
        self.clock = queue.clock
        self.token = token
        self.reads = reads
        self.mine = connections(queue.client, queue.tag)
        self.place = ""  # in line; none yet
        self.number = 0  # of that place
        self.asked_at = self.check_at = 0.0  # by `clock.now()`: last and next request

    def acquire(self, blocking: bool, deadline: float) -> Grant | None:
        """Return the granted lock; None if not granted in time. Raises redis.RedisError."""
        try:
            grant = self.enqueue() if blocking and self.mine.subscribed else self.try_acquire()
            self.mine.contended = grant is None
            if grant or not blocking:
                return grant
            self.queue.count_wait()
            if not self.place:
                self.queue.retry(lambda _: self.mine.subscribe())
                grant = self.enqueue()
            return grant or self.wait(deadline)
        except BaseException:
            # Interrupted, or the server is away. The next waiter must not wait for this one, even
            # if neither LEAVE nor the end of the subscription reaches the server.
            self.mine.abandon_channel()
            with suppress(redis.RedisError):
                self._leave()
            raise

    def enqueue(self) -> Grant | None:
        """Take a place in line, unless the lock is free. Call it only while subscribed."""
        queue = self.queue
        times_ms = [queue.in_ms(queue.handover_s), queue.in_ms(queue.lease_s)]
        # A message to an earlier place may still be unread. It must not count for this place: the
        # lock has moved on since, and the values are old.
        self.mine.places = self.number = self.mine.places + 1
        me = [self.token, queue.process(), self.mine.channel]
        self.place = _encode([*me, *times_ms, queue.tokens, self.number, *self.reads])
        return self.try_acquire()

    def try_acquire(self, again: bool = False) -> Grant | None:
        """Try once. None: not granted. A waiter with a place is in line; see `self.check_at`."""
        queue = self.queue
        queue.count_attempt()
        self.asked_at = self.clock.now()

        def ask(resent: bool) -> Any:
            again_ = "again" if again or resent else ""
            args = [self.token, queue.in_ms(queue.lease_s), self.place, again_, queue.tokens]
            return self.mine.call(ACQUIRE, queue.keys, [*args, *self.reads])

        is_mine, fence_or_place, *rest = queue.retry(ask)
        if is_mine:
            return Grant(int(fence_or_place), rest, queue.ends(self.asked_at))
        # A message calls the waiter. But the holder, or all waiters ahead, may be frozen or dead.
        # So check when the holder's lease has ended: the first in line first, the others later.
        before, left_ms = fence_or_place, rest[0]
        if before < 0:  # the message came too late, or the server has lost the line
            return self.enqueue()
        end = (
            NO_LEASE_CHECK_S
            if left_ms < 0
            else max(left_ms / 1000 + STAGGER_S * (before + 1), FIRST_CHECK_S * before)
        )
        self.check_at = self.clock.now() + (end if again else min(FIRST_CHECK_S, end))
        return None

    def wait(self, deadline: float) -> Grant | None:
        """Return the granted lock once the waiter is called; None when the deadline came first."""
        self.clock.sleep(0)  # a test's clock may advance where its owner waits
        while True:
            message = self._next_message(max(0.0, min(self.check_at, deadline) - self.clock.now()))
            if message and message[1] == "watch":
                self.check_at = self.clock.now() + message[2] / 1000
            elif message:
                now = self.clock.now()
                ends = self._accept(message[1], now)
                if ends is not None:
                    values = [
                        None if value is False else value.encode("latin-1") for value in message[3:]
                    ]
                    return Grant(int(message[2]), values, ends)
                # Too late: the next in line got the lock. Rejoin at the end of the line.
                self.check_at = now
            elif self.clock.now() >= deadline:
                self._leave()
                return None
            elif self.clock.now() >= self.check_at:
                grant = self.try_acquire(again=True)
                if grant:
                    return grant

    def _accept(self, call: str, now: float) -> float | None:
        """Return when the lease ends, by `clock.now()`. None: the waiter accepts too late."""
        if self.reads:
            return now  # the fused release finds out whether it is too late
        # "taken": the releaser took the lock for this waiter, for a whole lease, after asked_at. So
        # no command is needed, unless the lease may have ended during a long wait or a freeze.
        ends = self.queue.ends(self.asked_at)
        if call == "taken" and now < (self.asked_at + ends) / 2:
            return ends
        return self.queue.extend(self.token, self.queue.lease_s)

    def _next_message(self, timeout_s: float) -> list[Any] | None:
        """Return a message to this place, None when there was none; other messages are dropped."""
        try:
            message = self.mine.next_message(timeout_s)
        except redis.ConnectionError:
            self.queue.retry(lambda _: self.mine.subscribe())
            self.check_at = self.clock.now()  # messages that were sent meanwhile are lost
            return None
        return message if message and message[0] == self.number else None

    def _leave(self) -> None:
        self.mine.call(LEAVE, self.queue.keys, [self.token, self.place])
