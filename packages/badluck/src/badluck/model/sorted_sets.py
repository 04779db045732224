"""Commands on sorted sets: members and scores. Ranges: sorted_ranges.py."""

from __future__ import annotations

from collections.abc import Iterable
from math import isinf, isnan

from badluck.model.collections import drawn, first_ones
from badluck.model.keyspace import Keyspace
from badluck.model.lists import several
from badluck.model.parsing import SYNTAX, CommandRefused, Undefined, positive
from badluck.model.values import Command, Double, Reply, SortedSet

DIGITS = 10**17  # an integer below it is written without an exponent
OPTIONS = {b"NX", b"XX", b"GT", b"LT", b"CH", b"INCR"}
NO_FLOAT = "ERR value is not a valid float"

Pairs = list[tuple[bytes, float]]


def scores_of(keys: Keyspace, key: bytes) -> dict[bytes, float]:
    value = keys.value(key, SortedSet)
    return dict(value.scores) if value else {}


def put(keys: Keyspace, key: bytes, scores: dict[bytes, float]) -> None:
    keys.change(key, SortedSet(frozenset(scores.items())))


def in_order(scores: dict[bytes, float]) -> Pairs:
    return sorted(scores.items(), key=lambda pair: (pair[1], pair[0]))


def read_score(text: bytes, otherwise: str = NO_FLOAT) -> float:
    """Read a score. Raises CommandRefused, and Undefined where servers differ."""
    if text.lower().lstrip(b"+-").startswith(b"0x"):
        raise Undefined(f"a score of {text.decode()}")
    try:
        score = float(text)
    except ValueError:
        raise CommandRefused(otherwise) from None
    if isnan(score) or text != text.strip() or b"_" in text:
        raise CommandRefused(otherwise)
    if (isinf(score) and b"inf" not in text.lower()) or (not score and text.startswith(b"-")):
        raise Undefined(f"a score of {text.decode()}")
    return score


def shown(score: float) -> Double:
    if not isinf(score) and not score % 1 and abs(score) < DIGITS:
        return Double(b"%d" % score)
    return Double(repr(score).encode())


def told(pairs: Iterable[tuple[bytes, float]], scored: bool) -> Reply:
    rows = [(member, shown(score)) if scored else (member,) for member, score in pairs]
    return tuple(word for words in rows for word in words)


def add(keys: Keyspace, command: Command) -> Reply:
    """ZADD, with all its options; ZINCRBY, which is ZADD with INCR."""
    name, key, *words = command
    flags = set()
    if name == b"ZINCRBY":
        flags.add(b"INCR")
    else:
        while words and words[0].upper() in OPTIONS:
            flags.add(words.pop(0).upper())
    if len(words) % 2 or not words:
        raise CommandRefused(SYNTAX)
    if b"NX" in flags and b"XX" in flags:
        raise CommandRefused("ERR XX and NX options at the same time are not compatible")
    if len(flags & {b"GT", b"LT", b"NX"}) > 1:
        raise CommandRefused("ERR GT, LT, and/or NX options at the same time are not compatible")
    if b"INCR" in flags and len(words) > 2:
        raise CommandRefused("ERR INCR option supports a single increment-element pair")
    given = [
        (member, read_score(text)) for text, member in zip(words[::2], words[1::2], strict=True)
    ]
    old = scores_of(keys, key)
    new = dict(old)
    done, changes = None, 0
    for member, number in given:
        before = new.get(member)
        done = _wanted(before, number, flags)
        if done is not None:
            new[member] = done
            changes += done != before
    if changes:
        put(keys, key, new)
    if b"INCR" in flags:
        return None if done is None else shown(done)
    return changes if b"CH" in flags else len(new) - len(old)


def _wanted(old: float | None, given: float, flags: set[bytes]) -> float | None:
    """Return a member's score afterwards; None: nothing is changed."""
    if old is None:
        return None if b"XX" in flags else given
    if b"NX" in flags:
        return None
    new = old + given if b"INCR" in flags else given
    if isnan(new):
        raise CommandRefused("ERR resulting score is not a number (NaN)")
    if (b"GT" in flags and new <= old) or (b"LT" in flags and new >= old):
        return None
    return new


def remove(keys: Keyspace, command: Command) -> Reply:
    old = scores_of(keys, command[1])
    new = {member: score for member, score in old.items() if member not in command[2:]}
    if len(new) < len(old):
        put(keys, command[1], new)
    return len(old) - len(new)


def score(keys: Keyspace, command: Command) -> Reply:
    """ZSCORE, ZMSCORE."""
    scores = scores_of(keys, command[1])
    scores_found = tuple(
        shown(scores[member]) if member in scores else None for member in command[2:]
    )
    return scores_found if command[0] == b"ZMSCORE" else scores_found[0]


def random_member(keys: Keyspace, command: Command) -> Reply:
    """ZRANDMEMBER: the lowest ones."""
    if len(command) > 3:
        raise NotImplementedError("ZRANDMEMBER WITHSCORES")
    count = drawn(command)
    return first_ones([member for member, _ in in_order(scores_of(keys, command[1]))], count)


def rank(keys: Keyspace, command: Command) -> Reply:
    """ZRANK, ZREVRANK, without the options of newer servers."""
    if len(command) > 3:
        raise NotImplementedError(f"{command[0].decode()} with {command[3].decode()}")
    members = [member for member, _ in in_order(scores_of(keys, command[1]))]
    if command[0] == b"ZREVRANK":
        members.reverse()
    return members.index(command[2]) if command[2] in members else None


def pop(keys: Keyspace, command: Command) -> Reply:
    """ZPOPMIN, ZPOPMAX: the lowest or highest, with their scores."""
    name, key, *number = command
    if len(number) > 1:
        raise CommandRefused(SYNTAX)
    count = positive(number[0]) if number else 1
    return told(take(keys, name, key, count), scored=True)


def pop_first(keys: Keyspace, command: Command) -> Reply:
    """ZMPOP: from the first of the keys that has something."""
    names, end, limit = several(command, {b"MIN", b"MAX"})
    for key in names:
        if scores_of(keys, key):
            taken = take(keys, b"ZPOP" + end, key, limit)
            return key, tuple((member, shown(score)) for member, score in taken)
    return None


def take(keys: Keyspace, name: bytes, key: bytes, count: int) -> Pairs:
    pairs = in_order(scores_of(keys, key))
    if name == b"ZPOPMAX":
        pairs.reverse()
    if count and pairs:
        put(keys, key, dict(pairs[count:]))
    return pairs[:count]
