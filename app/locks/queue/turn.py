"""One waiter's turn at a lock: stand in line, be called, accept the lock. Or give up."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import orjson
import redis

from app.locks.queue.connections import connections
from app.locks.queue.scripts import ACQUIRE, LEAVE

if TYPE_CHECKING:
    from app.locks.queue.line import Line

PATIENCE = 0.15  # s in line without a word, after which a waiter asks once where it stands
STAGGER = 0.005  # s between two waiters who look whether the holder's lease has ended
HEARTBEAT = 30.0  # s between two looks at a lock that has no lease


@dataclass(frozen=True, slots=True)
class Grant:
    """The lock is mine: `fence` is the first of the fencing tokens asked for."""

    fence: int
    values: list[Any]  # of the keys that were to be read
    ends: float  # when the lease ends at the latest, by `clock.now()`


class Turn:
    """For one thread and one token; a Line makes a new one for each acquire."""

    def __init__(self, line: Line, token: str, reads: Sequence[str]) -> None:
        self.line = line
        self.clock = line.clock
        self.token = token
        self.reads = reads
        self.mine = connections(line.client, line.tag)
        self.place = ""  # in line; none yet
        self.number = 0  # of that place
        self.asked = self.look = 0.0  # by `clock.now()`: last time, and when I will again

    def come(self, blocking: bool, deadline: float) -> Grant | None:
        """None when it did not become mine. Raises redis.RedisError."""
        try:
            grant = self.stand() if blocking and self.mine.listening else self.ask()
            self.mine.crowded = grant is None
            if grant or not blocking:
                return grant
            self.line.counts.waits += 1
            if not self.place:
                self.line.again(lambda _: self.mine.listen())
                grant = self.stand()
            return grant or self.wait(deadline)
        except BaseException:
            # Interrupted, or the store is away. Nobody shall wait for us, whatever of this the
            # store still hears: our word that we leave, or that nobody listens any more.
            self.mine.forsake()
            with suppress(redis.RedisError):
                self._leave()
            raise

    def stand(self) -> Grant | None:
        """Take a place in line, unless the lock is free. To be called there one must listen."""
        line = self.line
        times = [line.in_ms(line.handover), line.in_ms(line.lease)]
        # What was said to an earlier place may still lie unheard in the listener. It must not pass
        # for a word to this one: the lock has gone on since, and the values are old.
        self.mine.places = self.number = self.mine.places + 1
        me = [self.token, line.process(), self.mine.channel]
        place = [*me, *times, line.tokens, self.number, *self.reads]
        self.place = orjson.dumps(place).decode()
        return self.ask()

    def ask(self, again: bool = False) -> Grant | None:
        """One try. None: standing in line, or not at all without a place; see `self.look`."""
        line = self.line
        line.counts.attempts += 1
        self.asked = self.clock.now()

        def ask(resent: bool) -> Any:
            again_ = "again" if again or resent else ""
            args = [self.token, line.in_ms(line.lease), self.place, again_, line.tokens]
            return self.mine.call(ACQUIRE, line.keys, [*args, *self.reads])

        is_mine, said, *rest = line.again(ask)
        if is_mine:
            return Grant(int(said), rest, line.ends(self.asked))
        # When I am called I hear of it. But the holder, or all those before me, may be frozen or
        # dead: look when its lease has ended, the first in line first, the others seldom.
        before, left = said, rest[0]
        if before < 0:  # I was called and did not hear it in time, or the store has lost the line
            return self.stand()
        end = (
            HEARTBEAT if left < 0 else max(left / 1000 + STAGGER * (before + 1), PATIENCE * before)
        )
        self.look = self.clock.now() + (end if again else min(PATIENCE, end))
        return None

    def wait(self, deadline: float) -> Grant | None:
        """Until I am called; None when the deadline came first."""
        while True:
            word = self._hear(max(0.0, min(self.look, deadline) - self.clock.now()))
            if word and word[1] == "watch":
                self.look = self.clock.now() + word[2] / 1000
            elif word:
                now = self.clock.now()
                ends = self._accept(word[1], now)
                if ends is not None:
                    values = [
                        None if value is False else value.encode("latin-1") for value in word[3:]
                    ]
                    return Grant(int(word[2]), values, ends)
                # Too late: it went to the next in line. Stand at the end of it again.
                self.look = now
            elif self.clock.now() >= deadline:
                self._leave()
                return None
            elif self.clock.now() >= self.look:
                grant = self.ask(again=True)
                if grant:
                    return grant

    def _accept(self, word: str, now: float) -> float | None:
        """Called: when my lease ends, by `clock.now()`. None: the hand-over was too long ago."""
        if self.reads:
            return now  # whether it was, the fused release finds out
        # "taken": for me, for a whole lease, and after I asked last. So it is mine, with no need to
        # ask, unless I have waited (or been frozen) for so long that it might have run out.
        ends = self.line.ends(self.asked)
        if word == "taken" and now < (self.asked + ends) / 2:
            return ends
        return self.line.keep(self.token, self.line.lease)

    def _hear(self, seconds: float) -> list[Any] | None:
        """A word to this place, None when there was none; what is for others is dropped."""
        try:
            word = self.mine.hear(seconds)
        except redis.ConnectionError:
            self.line.again(lambda _: self.mine.listen())
            self.look = self.clock.now()  # what was said meanwhile we have not heard
            return None
        return word if word and word[0] == self.number else None

    def _leave(self) -> None:
        self.mine.call(LEAVE, self.line.keys, [self.token, self.place])
