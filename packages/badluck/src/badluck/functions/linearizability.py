"""Could a plain function, called once for each actor in some order, have given all these answers?

Herlihy and Wing, "Linearizability: a correctness condition for concurrent objects" (1990): each
call seems to happen at one moment between its beginning and its answer. So there must be an order
of all calls in which a plain function gives each of them the same answer. A call that was answered
before another began comes first in it. A call without an answer, because its actor crashed or its
connection broke, may have done its work or not.

All orders are tried (Wing and Gong, "Testing and verifying concurrent objects", 1993): for four
actors there are 24. Which calls were answered before another began must be part of a state, since
otherwise states that differ by it would be one. So each actor writes it to the first server, in two
steps of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, NamedTuple

from badluck.actor.request import Lost, Request, Send
from badluck.functions.client_tuple import ServerNumberText
from badluck.model.scripts import sha
from badluck.model.values import Reply
from badluck.search.names import LETTERS

PlainFunction = Callable[[Any], tuple[object, Any]]

OURS = b"badluck:"  # keys
ENDED, BEGUN = "badluck:ended", "badluck:begun"
# KEYS: the calls that were answered; for each call that has begun, those that were answered before
# it. ARGV: the actor that begins. If the command is sent again, the first time counts.
BEGIN = """local ended = redis.call('hkeys', KEYS[1])
table.sort(ended)
return redis.call('hsetnx', KEYS[2], ARGV[1], table.concat(ended))"""
BEGINS = sha(BEGIN.encode())


class CallRecord(NamedTuple):
    plain: PlainFunction
    after: frozenset[str]  # calls that were answered before it began
    answered: bool
    answer: object


@dataclass(frozen=True, eq=False)
class Linearizable:
    """An invariant of the actors' answers; each actor records when it began and ended."""

    plain: Sequence[PlainFunction]  # A's, B's …; a single function is for all actors
    start: Any

    def begins(self, redis: Any, name: str) -> None:
        redis.evalsha(BEGINS, 2, ENDED, BEGUN, name)

    def ends(self, redis: Any, name: str, said: str) -> None:
        """Store the answer `said` at the end: this frame would not show it to the search."""
        redis.hset(ENDED, name, said)

    def __call__(self, redis: Any, answers: Mapping[str, object]) -> bool:
        store = redis[0] if isinstance(redis, tuple) else redis
        for name, answer in answers.items():
            if isinstance(answer, str) and answer.startswith("<"):
                raise TypeError(f"{name} answers {answer}, which cannot be compared")
        begun = {text(name): text(after) for name, after in store.hgetall(BEGUN).items()}
        calls = {
            name: CallRecord(self._of(name), frozenset(after), name in answers, answers.get(name))
            for name, after in (dict.fromkeys(answers, "") | begun).items()
        }
        if _explained(self.start, calls):
            return True
        listed = ", ".join(f"{name} {answer!r:.60}" for name, answer in answers.items())
        raise AssertionError(f"In no order of the calls are they told: {listed}.")

    def _of(self, name: str) -> PlainFunction:
        return self.plain[LETTERS.index(name) % len(self.plain)]


class MarkText(ServerNumberText):
    """Words for the marks that record calls: `begins`, `answers 1`."""

    def of(
        self, request: Request, said: tuple[Reply, ...] | Lost | None
    ) -> tuple[list[str], list[str]]:
        lines, answers = super().of(request, said)
        if isinstance(request, Send):
            first = request.commands[0]
            known = answers if isinstance(said, Lost) else []
            if first[:2] == (b"EVALSHA", BEGINS):
                return ["begins"], known
            if first[:2] == (b"HSET", ENDED.encode()):
                return [f"answers {self._word(first[-1])}"], known
        return lines, answers


def text(word: bytes | str) -> str:
    """Return a text, also from a client that decodes by itself."""
    return word if isinstance(word, str) else word.decode(errors="backslashreplace")


def _explained(state: Any, calls: Mapping[str, CallRecord]) -> bool:
    """Is there an order of the calls, from that state on, in which they are answered so?"""
    if not any(call.answered for call in calls.values()):
        return True
    for name, call in calls.items():
        if any(other in calls and calls[other].answered for other in call.after):
            continue
        answer, then = call.plain(deepcopy(state))
        if call.answered and not _same(answer, call.answer):
            continue
        if _explained(then, {other: calls[other] for other in calls if other != name}):
            return True
    return False


def _same(one: object, other: object) -> bool:
    """Compare by type as well, also the parts: for Python True equals 1."""
    if type(one) is not type(other) or one != other:
        return False
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return all(map(_same, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return all(_same(value, other[key]) for key, value in one.items())
    return True
