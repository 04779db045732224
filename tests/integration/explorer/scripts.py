"""Random calls of the project's own scripts, on the keys that all the other commands use."""

from __future__ import annotations

import json
from collections.abc import Callable
from random import Random

from badluck.model.scripts import sha
from badluck.model.values import Command
from fairlock import scripts as queue

from app.store import lua

KEYS = (b"k", b"l", b"m")
FENCE = b"f"  # only scripts write it, as servers count microseconds differently
HELD = (b"a", b"b")  # orders' ids
TOKENS = (b"a", b"b", b"1")
PLACES = [
    json.dumps([token, process, channel, ms, lease, fences, number, *keys]).encode()
    for number, (token, process, channel, ms, lease, fences, keys) in enumerate(
        [
            ("a", "p", "ch", 50, 1000, 0, []),
            ("b", "q", "dh", 10, 0, 1, ["k"]),
            ("1", "p", "nobody", 50, 2000, 2, ["k", "l"]),
        ]
    )
]


def _fence(random: Random) -> bytes:
    return random.choice((b"0", b"1", b"2", b"1900000000000000", b"1900000000005000"))


def _ms(random: Random) -> bytes:
    return random.choice((b"1", b"10", b"1000", b"0"))


def _lease(random: Random) -> bytes:
    return random.choice((b"1", b"10", b"1000"))


def _token(random: Random) -> bytes:
    return random.choice(TOKENS)


def _keys(random: Random, count: int) -> list[bytes]:
    return [random.choice(KEYS) for _ in range(count)]


def _line(random: Random) -> list[bytes]:
    """The queue's keys."""
    return [*_keys(random, 2), FENCE, *_keys(random, 1)]


def _acquire(random: Random) -> Command:
    place = random.choice((*PLACES, b""))
    again, wanted = random.choice((b"", b"again")), random.choice((b"0", b"1", b"2"))
    read = _keys(random, random.randrange(3))
    return (_token(random), _ms(random), place, again, wanted, *read)


def _release(random: Random) -> Command:
    words = random.choice(((), (b"3", b"SET", b"k", b"1"), (b"2", b"INCR", b"l")))
    return (_token(random), random.choice((b"", b"p")), *words)


def _holds(random: Random) -> list[bytes]:
    """A stream that mostly has holds in it, a hash and a sorted set."""
    return [b"o", *_keys(random, 2)]


def _settle(random: Random) -> Command:
    asked = random.choice((b"LOOK", b"PAID", b"CANCELLED"))
    return (random.choice(HELD), _lease(random), asked, b"1", b"10")


def _put_back(random: Random) -> Command:
    proofs = random.choice((b"", *TOKENS)), random.choice((b"", _fence(random)))
    return (*proofs, HELD[0], b"2", HELD[1], b"1")


Make = Callable[[Random], list[bytes] | Command]
CALLS: list[tuple[str, Make, Make]] = [  # text, keys, arguments
    (lua.source("release"), lambda r: _keys(r, 1), lambda r: [_token(r)]),
    (lua.source("extend"), lambda r: _keys(r, 1), lambda r: [_token(r), _ms(r)]),
    (
        lua.source("acquire_fenced"),
        lambda r: [*_keys(r, 1), FENCE],
        lambda r: [_token(r), _lease(r)],
    ),
    (lua.source("read_fenced"), lambda r: [b"g", *_keys(r, 2)], lambda r: [_fence(r)]),
    (
        lua.source("write_fenced"),
        lambda r: [b"g", *_keys(r, 4)],
        lambda r: [_fence(r), b"1", b"a"],
    ),
    (lua.source("sell"), lambda r: _keys(r, 4), lambda r: [r.choice((b"1", b"2")), b"a"]),
    (
        lua.source("put_back"),
        lambda r: [*_keys(r, 5), b"g", *_keys(r, r.choice((0, 2)))],
        _put_back,
    ),
    (
        lua.source("expire"),
        lambda r: [*_holds(r), *_keys(r, 1), b"end:", b"", b""],
        lambda r: [_lease(r), b"2", b"1", b"1", b"10"],
    ),
    (lua.source("settle"), lambda r: [*_holds(r), *_keys(r, 5)], _settle),
    (queue.ACQUIRE.text, _line, _acquire),
    (
        queue.TAKE.text,
        lambda r: _keys(r, 1),
        lambda r: [_token(r), _ms(r), r.choice((b"", b"more"))],
    ),
    (queue.RELEASE.text, _line, _release),
    (queue.LEAVE.text, _line, lambda r: [_token(r), r.choice(PLACES)]),
]


def call(random: Random) -> Command:
    text, keys, arguments = random.choice(CALLS)
    named, given = keys(random), arguments(random)
    words = (b"%d" % len(named), *named, *given)
    if random.random() < 0.5:
        return (b"EVALSHA", sha(text.encode()), *words)
    return (b"EVAL", text.encode(), *words)
