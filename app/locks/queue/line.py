"""The line in front of one lock: stand in it, be called, take the lock, hand it over."""

from __future__ import annotations

import math
import os
import uuid
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import orjson
import redis

from app.domain import Clock
from app.locks.handle import Counts
from app.locks.queue.connections import Connections, connections
from app.locks.queue.scripts import ACQUIRE, LEAVE, RELEASE, TAKE

HANDOVER = 0.1  # s to take the lock that was handed over; then it goes to the next in line
PATIENCE = 0.15  # s in line without a word, after which a waiter asks once where it stands
STAGGER = 0.005  # s between two waiters who look whether the holder's lease has ended
HEARTBEAT = 30.0  # s between two looks at a lock that has no lease
# s before each new try when the connection broke: the server may be starting again. 0.46 s in
# all, so that a shop can still answer 503 within a second.
RETURNS = (0.01, 0.05, 0.1, 0.3)

_process = uuid.uuid4().hex  # with the process id, for forks: tells waiters of one process


@dataclass(frozen=True, slots=True)
class Grant:
    """The lock is mine: `fence` is the first of the fencing tokens asked for."""

    fence: int
    values: list[Any]  # of the keys that were to be read
    ends: float  # when the lease ends at the latest, by `clock.now()`


class Line:
    """One waiter's view of one lock. Every call of the scripts stands here."""

    def __init__(
        self,
        client: Any,
        clock: Clock,
        name: str,
        lease: float | None,
        handover: float = HANDOVER,
        tokens: int = 1,
        counts: Counts | None = None,
    ) -> None:
        """`lease` in s, None for ever. `tokens` is how many fencing tokens a grant takes."""
        self.client = client
        self.name = name
        self.clock = clock
        self.lease = lease
        self.handover = handover
        self.tokens = tokens
        self.tag = name if "{" in name else f"{{{name}}}"
        self.keys = [name, f"{self.tag}:line", f"{self.tag}:fence", f"{self.tag}:asked"]
        self.counts = counts or Counts()

    def acquire(
        self, token: str, blocking: bool, timeout: float | None, reads: Sequence[str] = ()
    ) -> Grant | None:
        """Stand in line for at most `timeout` s (None: for ever); None when it did not become mine.

        With `reads` the values of those keys come with the lock, and the lock is not taken for the
        whole lease: release() must follow within `handover` s, and may say that it is too late.
        Raises redis.RedisError when the server does not answer.
        """
        deadline = None if timeout is None else self.clock.now() + timeout
        mine = connections(self.client, self.tag)
        place = self._place(mine, token, reads) if blocking and mine.listening else ""
        try:
            grant = self._ask(mine, token, place, reads)
            if grant or not blocking:
                return grant
            self.counts.waits += 1
            if not place:
                self._again(lambda _: mine.listen())
                place = self._place(mine, token, reads)
                grant = self._ask(mine, token, place, reads)
            return grant or self._wait(mine, token, place, reads, deadline)
        except BaseException:
            # Interrupted, or the store is away. Nobody shall wait for us, whatever of this the
            # store still hears: our word that we leave, or that nobody listens any more.
            mine.deafen()
            with suppress(redis.RedisError):
                mine.call(LEAVE, self.keys, [token, place])
            raise

    def keep(self, token: str, lease: float | None, more: bool = False) -> float | None:
        """Let the lease end `lease` s from now, or that much later than it would (`more`).

        Answers when it ends, by `clock.now()`; None, and nothing done: not mine any more.
        """
        mine = connections(self.client, self.tag)
        args = [token, _ms(lease), *(["more"] if more else [])]
        sent = self.clock.now()
        # Asked again, a lease may grow twice; that does no harm.
        left = self._again(lambda _: mine.call(TAKE, self.keys[:1], args))
        return None if left == 0 else math.inf if left < 0 else sent + left / 1000

    def release(self, token: str, commands: Sequence[Sequence[Any]] = ()) -> bool:
        """If the lock is mine: do `commands`, hand it over, all in one step. Else nothing: False.

        With commands it is sent once. Raises redis.RedisError: whether it was done is unknown.
        """
        args: list[Any] = [token]
        for command in commands:
            args += [len(command), *command]
        keys = [*self.keys, *dict.fromkeys(command[1] for command in commands)]
        mine = connections(self.client, self.tag)
        if commands:
            return bool(mine.call(RELEASE, keys, args))
        # Not mine any more when asked again: it was the first time, whose answer got lost.
        return bool(self._again(lambda again: mine.call(RELEASE, keys, args) or again))

    def _place(self, mine: Connections, token: str, reads: Sequence[str]) -> str:
        process = f"{_process}-{os.getpid()}"
        place = [token, process, mine.channel, _ms(self.handover), self.tokens, *reads]
        return orjson.dumps(place).decode()

    def _ask(
        self, mine: Connections, token: str, place: str, reads: Sequence[str], again: bool = False
    ) -> Grant | None:
        """One try. None: standing in line, or not at all without a `place`; see `self.look`."""
        self.counts.attempts += 1

        def ask(resent: bool) -> Any:
            args = [token, _ms(self.lease), place, "again" if again or resent else "", self.tokens]
            return sent, mine.call(ACQUIRE, self.keys, [*args, *reads])

        sent = self.clock.now()
        sent, (is_mine, said, *rest) = self._again(ask)
        if is_mine:
            return Grant(int(said), rest, self._ends(sent))
        # When I am called I hear of it. But the holder, or all those before me, may be frozen or
        # dead: look when its lease has ended, the first in line first, the others seldom.
        before, left = said, rest[0]
        end = (
            HEARTBEAT if left < 0 else max(left / 1000 + STAGGER * (before + 1), PATIENCE * before)
        )
        self.look = self.clock.now() + (end if again else min(PATIENCE, end))
        return None

    def _wait(
        self,
        mine: Connections,
        token: str,
        place: str,
        reads: Sequence[str],
        deadline: float | None,
    ) -> Grant | None:
        """Until I am called; None when the deadline came first."""
        while True:
            until = self.look if deadline is None else min(self.look, deadline)
            word = self._hear(mine, token, max(0.0, until - self.clock.now()))
            if word and word[1] == "watch":
                self.look = self.clock.now() + word[2] / 1000
            elif word:
                now = self.clock.now()
                ends = now if reads else self.keep(token, self.lease)
                if ends is not None:
                    values = [None if value is False else value for value in word[3:]]
                    return Grant(int(word[2]), values, ends)
                # Too late: it went to the next in line. Stand at the end of it again.
                self.look = now
            elif deadline is not None and self.clock.now() >= deadline:
                mine.call(LEAVE, self.keys, [token, place])
                return None
            elif self.clock.now() >= self.look:
                grant = self._ask(mine, token, place, reads, again=True)
                if grant:
                    return grant

    def _hear(self, mine: Connections, token: str, seconds: float) -> list[Any] | None:
        """A word to this waiter, None when there was none; what is for others is dropped."""
        try:
            word = mine.hear(seconds)
        except redis.ConnectionError:
            self._again(lambda _: mine.listen())
            self.look = self.clock.now()  # what was said meanwhile we have not heard
            return None
        return word if word and word[0] == token else None

    def _again(self, call: Callable[[bool], Any]) -> Any:
        """Do what may be done twice, until the server is back. `call` is told if it is again.

        Everything that goes this way is tied to the token: the second time changes nothing.
        """
        for attempt, pause in enumerate((*RETURNS, None)):
            try:
                return call(attempt > 0)
            except redis.ConnectionError:
                if pause is None:
                    raise
                self.clock.sleep(pause)
        raise AssertionError("unreachable")

    def _ends(self, sent: float) -> float:
        return math.inf if self.lease is None else sent + self.lease


def _ms(seconds: float | None) -> int:
    return 0 if seconds is None else max(1, round(seconds * 1000))
