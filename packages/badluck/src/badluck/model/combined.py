"""Set operations on sets and sorted sets: intersection, union, difference."""

from __future__ import annotations

from collections.abc import Sequence
from math import copysign, isnan

from badluck.model.collections import members_of
from badluck.model.keyspace import Keyspace
from badluck.model.lists import above_zero
from badluck.model.parsing import SYNTAX, CommandRefused, Undefined, integer
from badluck.model.sorted_sets import in_order, read_score, scores_of, told
from badluck.model.values import Command, Reply, SortedSet

EXACT = 2**50  # integers below it have the same sum in any order
TOGETHER = {b"SUM", b"MIN", b"MAX"}

Scores = dict[bytes, float]


def sets(keys: Keyspace, command: Command) -> Reply:
    """SINTER, SUNION, SDIFF, in alphabetical order as SMEMBERS."""
    return tuple(sorted(_of_sets(keys, command[0], command[1:])))


def sets_stored(keys: Keyspace, command: Command) -> Reply:
    """SINTERSTORE, SUNIONSTORE, SDIFFSTORE."""
    name, target, *sources = command
    members = _of_sets(keys, name.removesuffix(b"STORE"), sources)
    keys.replace(target, members)
    return len(members)


def _of_sets(keys: Keyspace, name: bytes, sources: Sequence[bytes]) -> frozenset[bytes]:
    first, *others = [members_of(keys, key) for key in sources]
    if name == b"SUNION":
        return first.union(*others)
    return first.intersection(*others) if name == b"SINTER" else first.difference(*others)


def sorted_sets(keys: Keyspace, command: Command) -> Reply:
    """ZINTER, ZUNION, ZDIFF."""
    scores, scored = _of_sorted_sets(keys, command[0], command[1:])
    return told(in_order(scores), scored)


def sorted_sets_stored(keys: Keyspace, command: Command) -> Reply:
    """ZINTERSTORE, ZUNIONSTORE, ZDIFFSTORE."""
    name, target, *words = command
    scores, _ = _of_sorted_sets(keys, name, words)
    keys.replace(target, SortedSet(frozenset(scores.items())))
    return len(scores)


def _of_sorted_sets(keys: Keyspace, name: bytes, words: Sequence[bytes]) -> tuple[Scores, bool]:
    """Return the combined scores, and whether WITHSCORES was given."""
    size = integer(words[0])
    if not 0 < size < len(words):
        raise CommandRefused(SYNTAX)
    sources = [_scores(keys, key) for key in words[1 : 1 + size]]
    options = list(words[1 + size :])
    stored, differs = name.endswith(b"STORE"), name.startswith(b"ZDIFF")
    weights, how, scored = [1.0] * size, b"SUM", False
    while options:
        word = options.pop(0).upper()
        if word == b"WITHSCORES" and not stored:
            scored = True
        elif word == b"WEIGHTS" and len(options) >= size and not differs:
            weights = [_weight(options.pop(0)) for _ in range(size)]
        elif word == b"AGGREGATE" and options and not differs:
            how = options.pop(0).upper()
        else:
            raise CommandRefused(SYNTAX)
    if how not in TOGETHER:
        raise CommandRefused(SYNTAX)
    first, *others = sources
    if differs:
        return {member: first[member] for member in first.keys() - set().union(*others)}, scored
    members = set(first).union(*others) if name.startswith(b"ZUNION") else _in_all(sources)
    total = {}
    for member in members:
        pairs = zip(sources, weights, strict=True)
        parts = [_times(each[member], weight) for each, weight in pairs if member in each]
        total[member] = _sum(parts) if how == b"SUM" else (min if how == b"MIN" else max)(parts)
    return total, scored


def _scores(keys: Keyspace, key: bytes) -> Scores:
    """Return a key's scores; each member of a plain set has 1."""
    entry = keys.get(key)
    if entry and isinstance(entry.value, frozenset):
        return dict.fromkeys(entry.value, 1.0)
    return scores_of(keys, key)


def _in_all(sources: Sequence[Scores]) -> set[bytes]:
    return set(sources[0]).intersection(*sources[1:])


def _weight(text: bytes) -> float:
    return read_score(text, "ERR weight value is not a float")


def _times(score: float, weight: float) -> float:
    product = score * weight
    if isnan(product) or (not product and copysign(1, product) < 0):
        raise Undefined(f"a score of {score:g} times {weight:g}")
    return product


def _sum(parts: list[float]) -> float:
    """Add the scores: a server adds the smallest set's first, and equal ones in any order."""
    if len(parts) > 2 and not all(part.is_integer() and abs(part) < EXACT for part in parts):
        raise Undefined("the sum of more than two scores that are no whole numbers")
    total = sum(parts)
    return 0.0 if isnan(total) else total


def cardinality(keys: Keyspace, command: Command) -> Reply:
    """SINTERCARD, ZINTERCARD, with LIMIT."""
    name, number, *words = command
    size = above_zero(number, "numkeys")
    if size > len(words):
        raise CommandRefused(SYNTAX)
    named, options = words[:size], words[size:]
    if name == b"ZINTERCARD":
        for key in named:
            _scores(keys, key)  # it checks their types before it reads on
    limit = 0
    while options:
        if options.pop(0).upper() != b"LIMIT" or not options:
            raise CommandRefused(SYNTAX)
        limit = integer(options.pop(0))
        if limit < 0:
            raise CommandRefused("ERR LIMIT can't be negative")
    if name == b"ZINTERCARD":
        count = len(_in_all([_scores(keys, key) for key in named]))
    else:
        count = len(_of_sets(keys, b"SINTER", named))
    return min(count, limit) if limit else count
