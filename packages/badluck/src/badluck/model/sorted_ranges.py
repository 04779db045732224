"""Commands on ranges of sorted sets, by rank, score or name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from badluck.model.keyspace import Keyspace
from badluck.model.parsing import SYNTAX, CommandRefused, Undefined, integer
from badluck.model.sorted_sets import Pairs, in_order, put, read_score, scores_of, told
from badluck.model.values import Command, Reply, SortedSet

NO_BOUND = "ERR min or max is not a float"
NO_NAME = "ERR min or max not valid string range item"

Inside = Callable[[Pairs], Pairs]


# Options that are part of the older commands' names: the kind of range, and whether from the end.
SAID: dict[bytes, tuple[bytes, bool]] = {
    b"ZREVRANGE": (b"BYRANK", True),
    b"ZRANGEBYSCORE": (b"BYSCORE", False),
    b"ZREVRANGEBYSCORE": (b"BYSCORE", True),
    b"ZRANGEBYLEX": (b"BYLEX", False),
    b"ZREVRANGEBYLEX": (b"BYLEX", True),
}


def range_(keys: Keyspace, command: Command) -> Reply:
    """ZRANGE, with BYSCORE, BYLEX, REV, LIMIT, WITHSCORES; and those in SAID."""
    return told(*_found(keys, command[0], command[1:]))


def store(keys: Keyspace, command: Command) -> Reply:
    """ZRANGESTORE."""
    name, target, *words = command
    members, _ = _found(keys, name, words)
    keys.replace(target, SortedSet(frozenset(members)))
    return len(members)


def _found(keys: Keyspace, name: bytes, words: Sequence[bytes]) -> tuple[Pairs, bool]:
    """Return the members in the range, and whether WITHSCORES was given."""
    by, reverse = SAID.get(name, (b"", False))
    choosing = not by
    key, first, last, *options = words
    skip, limit, scored = 0, -1, False
    while options:
        word = options.pop(0).upper()
        if word == b"WITHSCORES" and name != b"ZRANGESTORE":
            scored = True
        elif word == b"LIMIT" and len(options) > 1:
            skip, limit = integer(options.pop(0)), integer(options.pop(0))
        elif word in {b"BYSCORE", b"BYLEX"} and choosing:
            by = word
        elif word == b"REV" and choosing:
            reverse = True
        else:
            raise CommandRefused(SYNTAX)
    by = by or b"BYRANK"
    if (limit != -1 and by == b"BYRANK") or (scored and by == b"BYLEX"):
        raise CommandRefused(SYNTAX)
    if reverse and by != b"BYRANK":
        first, last = last, first
    inside = _inside(by, first, last)
    pairs = in_order(scores_of(keys, key))
    if by == b"BYRANK":
        return inside(pairs[::-1] if reverse else pairs), scored
    members = inside(pairs)[:: -1 if reverse else 1]
    if skip < 0:
        return [], scored
    return (members[skip:] if limit < 0 else members[skip : skip + limit]), scored


def _inside(by: bytes, first: bytes, last: bytes) -> Inside:
    if by == b"BYRANK":
        return _by_rank(first, last)
    return _by_score(first, last) if by == b"BYSCORE" else _by_name(first, last)


def _by_rank(first: bytes, last: bytes) -> Inside:
    start, stop = integer(first), integer(last)

    def inside(pairs: Pairs) -> Pairs:
        low = max(0, start + len(pairs)) if start < 0 else start
        high = stop + len(pairs) if stop < 0 else stop
        return pairs[low : max(0, high + 1)]

    return inside


def _by_score(first: bytes, last: bytes) -> Inside:
    above, below = (read_score(text.removeprefix(b"("), NO_BOUND) for text in (first, last))
    over, under = first.startswith(b"("), last.startswith(b"(")

    def inside(pairs: Pairs) -> Pairs:
        return [
            (member, score)
            for member, score in pairs
            if (above < score or (above == score and not over))
            and (score < below or (score == below and not under))
        ]

    return inside


def _by_name(first: bytes, last: bytes) -> Inside:
    for text in (first, last):
        if text not in {b"-", b"+"} and text[:1] not in {b"(", b"["}:
            raise CommandRefused(NO_NAME)

    def from_first(member: bytes) -> bool:
        if first in {b"-", b"+"}:
            return first == b"-"
        return member > first[1:] or (member == first[1:] and first.startswith(b"["))

    def to_last(member: bytes) -> bool:
        if last in {b"-", b"+"}:
            return last == b"+"
        return member < last[1:] or (member == last[1:] and last.startswith(b"["))

    def inside(pairs: Pairs) -> Pairs:
        if len({score for _, score in pairs}) > 1:
            raise Undefined("BYLEX where the scores are not all the same")
        return [pair for pair in pairs if from_first(pair[0]) and to_last(pair[0])]

    return inside


def count(keys: Keyspace, command: Command) -> Reply:
    """ZCOUNT, ZLEXCOUNT."""
    inside = _inside(b"BYLEX" if command[0] == b"ZLEXCOUNT" else b"BYSCORE", *command[2:])
    return len(inside(in_order(scores_of(keys, command[1]))))


def remove(keys: Keyspace, command: Command) -> Reply:
    """ZREMRANGEBYSCORE, ZREMRANGEBYLEX, ZREMRANGEBYRANK."""
    inside = _inside(command[0].removeprefix(b"ZREMRANGE"), *command[2:])
    pairs = in_order(scores_of(keys, command[1]))
    gone = inside(pairs)
    if gone:
        put(keys, command[1], dict(_without(pairs, gone)))
    return len(gone)


def _without(pairs: Pairs, gone: Pairs) -> Iterable[tuple[bytes, float]]:
    left = set(gone)
    return (pair for pair in pairs if pair not in left)
