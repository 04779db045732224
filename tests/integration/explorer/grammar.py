"""Random commands, mostly right and sometimes not, on few keys, so that they meet."""

from __future__ import annotations

from random import Random

from badluck.model.scripts import sha
from badluck.model.values import Command
from badluck.target import EPOCH

from tests.integration.explorer import scripts
from tests.integration.explorer.shapes import ANYWHERE, DATA, FAMILIES

# The first ones are more frequent, so that a command often finds what it needs.
KEYS = (b"k", b"k", b"k", b"k", b"l", b"m")
VALUES = (b"a", b"a", b"a", b"a", b"b", b"1", b"2", b"-7", b"01", b"")
NUMBERS = (b"0", b"1", b"2", b"-1", b"-2", b"10", b"x", b"9223372036854775807")
SCRIPTS = (
    b"return redis.call('GET', KEYS[1])",
    b"if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0",
    b"redis.call('SET', KEYS[1], ARGV[1], 'PX', 1000) return {1, redis.call('PTTL', KEYS[1])}",
    b"return redis.pcall('INCR', KEYS[1])",
    b"return {tonumber(ARGV[1]) or 'none', false, 3.7}",
    b"return cjson.decode(cjson.encode({ARGV[1], 2}))",
    b"redis.call('RPUSH', KEYS[1], ARGV[1]) return redis.call('LRANGE', KEYS[1], 0, -1)",
    b"return redis.call('SPUBLISH', 'ch', ARGV[1])",
    b"redis.call('APPEND', KEYS[1], ARGV[1]) appended = true return 1",
    b"local well = pcall(redis.call, 'INCR', KEYS[1]) return {tostring(well), nil, 3}",
    b"redis.call('DEL', KEYS[1]) error({err = 'SO it is'})",
    b'local told = cjson.decode(\'{"id":"a","of":{"n":[1,2.5,true]}}\')'
    b" return {told.id, told.of.n[1], tostring(told.of.n[3]), tostring(told.none)}",
)


def _key(random: Random) -> bytes:
    return random.choice(KEYS)


def _value(random: Random) -> bytes:
    return random.choice(VALUES)


def _number(random: Random) -> bytes:
    return random.choice(NUMBERS)


def _bit(random: Random) -> bytes:
    return random.choice((b"0", b"1", b"7", b"9", b"17", b"-1", b"-9", b"x"))


def _index(random: Random) -> bytes:
    return random.choice((b"0", b"1", b"-1", b"-2", b"7"))


def _ms(random: Random) -> bytes:
    return random.choice((b"1", b"2", b"10", b"1000", b"1001", b"0", b"-5"))


def _moment(random: Random) -> bytes:
    return b"%d" % (EPOCH + random.choice((-1, 0, 1, 2, 1000, 5000)))


def _score(random: Random) -> bytes:
    return random.choice((b"0 0 1 2 -7 %d +inf -inf x 1e3 0.1 2.5" % EPOCH).split())


def _float(random: Random) -> bytes:
    return random.choice((*b"0.1 0.2 1.5 -2.25 3e2 x 100.1 1e-5 5 1e20".split(), b""))


def _name(random: Random) -> bytes:
    return random.choice(b"- + [a (a [b (b [1 x".split())


def _pattern(random: Random) -> bytes:
    return random.choice(rb"* k [kl] [^k] ? [a-c] -* *1 \k k*".split())


def _bound(random: Random) -> bytes:
    return random.choice((b"(", b"")) + _score(random)


def _second(random: Random) -> bytes:
    return b"%d" % (EPOCH // 1000 + random.choice((-1, 0, 1, 5)))


def _sha(random: Random) -> bytes:
    return sha(random.choice(SCRIPTS))


def _text(random: Random) -> bytes:
    return random.choice(SCRIPTS)


MAKERS = {  # other words are literal
    **{"k": _key, "v": _value, "n": _number, "t": _ms, "i": _index, "at": _moment},
    **{"f": _float, "z": _name, "p": _pattern, "bit": _bit},
    **{"second": _second, "sha": _sha, "text": _text, "s": _score, "b": _bound},
}


def _words(shape: str, random: Random) -> Command:
    return tuple(
        MAKERS[part](random) if part in MAKERS else part.encode() for part in shape.split()
    )


def command(random: Random, family: str) -> Command:
    """Return a command: two thirds are of the family, one third of any family."""
    if random.random() < 0.33:
        shapes = ANYWHERE
    elif family == "scripts" and random.random() < 0.5:
        return scripts.call(random)
    elif family == "watching" and random.random() < 0.3:
        shapes = FAMILIES[random.choice(DATA)]
    else:
        shapes = FAMILIES[family]
    return _words(random.choice(shapes.split(";")), random)
