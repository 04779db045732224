"""Commands on sorted sets: what a table of deadlines needs."""

from __future__ import annotations

from collections.abc import Iterable
from math import isinf, isnan

from badluck.simulated.keyspace import Keyspace
from badluck.simulated.values import (
    SYNTAX,
    WRONG_TYPE,
    Command,
    Refused,
    Reply,
    SortedSet,
    Undefined,
    integer,
)

EXACT = 2**53  # beyond it servers write the digits of a score each in its own way
OPTIONS = {b"NX", b"XX", b"GT", b"LT", b"CH", b"INCR"}
NO_FLOAT = "ERR value is not a valid float"
NO_BOUND = "ERR min or max is not a float"

Pairs = list[tuple[bytes, float]]


def _scores(keys: Keyspace, key: bytes) -> dict[bytes, float]:
    entry = keys.get(key)
    if entry is None:
        return {}
    if not isinstance(entry.value, SortedSet):
        raise Refused(WRONG_TYPE)
    return dict(entry.value.scores)


def _put(keys: Keyspace, key: bytes, scores: dict[bytes, float]) -> None:
    keys.change(key, SortedSet(frozenset(scores.items())))


def _sorted(scores: dict[bytes, float]) -> Pairs:
    return sorted(scores.items(), key=lambda pair: (pair[1], pair[0]))


def _score(text: bytes, otherwise: str) -> float:
    """Raises Refused, Undefined for what servers may write down differently."""
    try:
        score = float(text)
    except ValueError:
        raise Refused(otherwise) from None
    if isnan(score) or text != text.strip() or b"_" in text:
        raise Refused(otherwise)
    if not isinf(score) and (score % 1 or abs(score) > EXACT):
        raise Undefined(f"a score of {text.decode()}")
    return score


def shown(score: float) -> bytes:
    if isinf(score):
        return b"%s" % str(score).encode()
    return b"%d" % score


def add(keys: Keyspace, command: Command) -> Reply:
    """ZADD without options."""
    _, key, *words = command
    if words[0].upper() in OPTIONS:
        raise NotImplementedError(f"ZADD with {words[0].decode()}")
    if len(words) % 2:
        raise Refused(SYNTAX)
    given = [
        (_score(text, NO_FLOAT), member)
        for text, member in zip(words[::2], words[1::2], strict=True)
    ]
    old = _scores(keys, key)
    new = old | {member: score for score, member in given}
    if new != old:
        _put(keys, key, new)
    return len(new) - len(old)


def remove(keys: Keyspace, command: Command) -> Reply:
    old = _scores(keys, command[1])
    new = {member: score for member, score in old.items() if member not in command[2:]}
    if len(new) < len(old):
        _put(keys, command[1], new)
    return len(old) - len(new)


def score(keys: Keyspace, command: Command) -> Reply:
    found = _scores(keys, command[1]).get(command[2])
    return None if found is None else shown(found)


def cardinality(keys: Keyspace, command: Command) -> Reply:
    return len(_scores(keys, command[1]))


def range_(keys: Keyspace, command: Command) -> Reply:
    """ZRANGE by rank, with WITHSCORES."""
    _, key, first, last, *options = command
    if any(option.upper() != b"WITHSCORES" for option in options):
        raise NotImplementedError("ZRANGE with options other than WITHSCORES")
    start, stop = integer(first), integer(last)
    pairs = _sorted(_scores(keys, key))
    start = max(0, start + len(pairs)) if start < 0 else start
    stop = stop + len(pairs) if stop < 0 else stop
    return _told(pairs[start : max(0, stop + 1)], bool(options))


def range_by_score(keys: Keyspace, command: Command) -> Reply:
    """ZRANGEBYSCORE, with LIMIT and WITHSCORES."""
    _, key, low, high, *options = command
    above, over = _bound(low)
    below, under = _bound(high)
    skip, most, scored = 0, -1, False
    words = iter(options)
    for word in map(bytes.upper, words):
        if word == b"WITHSCORES":
            scored = True
        elif word == b"LIMIT":
            numbers = [next(words, None), next(words, None)]
            if None in numbers:
                raise Refused(SYNTAX)
            skip, most = (integer(number or b"") for number in numbers)
        else:
            raise Refused(SYNTAX)
    found = [
        (member, score)
        for member, score in _sorted(_scores(keys, key))
        if (above < score or (above == score and not over))
        and (score < below or (score == below and not under))
    ]
    if skip < 0:
        return ()
    return _told(found[skip:] if most < 0 else found[skip : skip + most], scored)


def _bound(text: bytes) -> tuple[float, bool]:
    """And whether it is left out itself."""
    return _score(text.removeprefix(b"("), NO_BOUND), text.startswith(b"(")


def _told(pairs: Iterable[tuple[bytes, float]], scored: bool) -> Reply:
    found = [(member, shown(score)) if scored else (member,) for member, score in pairs]
    return tuple(word for words in found for word in words)
