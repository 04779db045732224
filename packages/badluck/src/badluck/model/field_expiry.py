"""Expiry of single fields of a hash, as Valkey has it since 9.0 (and Redis since 7.4)."""

from __future__ import annotations

from badluck.model.collections import hash_of
from badluck.model.generic import CONDITIONS, applies, time_left
from badluck.model.keyspace import Keyspace
from badluck.model.parsing import HIGHEST, CommandRefused, Undefined, integer
from badluck.model.values import Command, Hash, Reply

NO_FIELD, NO_EXPIRY, UNCHANGED, DONE, DELETED = -2, -1, 0, 1, 2
NOT_SO_MANY = "ERR numfields should be greater than 0 and match the provided number of fields"


def expire(keys: Keyspace, command: Command) -> Reply:
    """HEXPIRE, HPEXPIRE, HEXPIREAT, HPEXPIREAT."""
    name, key, number, *words = command
    upper = [word.upper() for word in words[:-1]]
    if b"FIELDS" not in upper:
        raise CommandRefused(NOT_SO_MANY)
    at = upper.index(b"FIELDS")
    wanted = set(upper[:at])
    if wanted - CONDITIONS or len(wanted & {b"NX", b"GT", b"LT"}) > 1 or wanted >= {b"NX", b"XX"}:
        raise CommandRefused("ERR these options are not supported, or not together")
    fields = _fields(words[at + 1 :])
    when = _moment(keys, name, number)
    fields_now = hash_of(keys, key)
    alive, expires = dict(fields_now.pairs), dict(fields_now.expires or ())
    replies: list[int] = []
    becomes_a_table = fields_now.expires is not None
    for field in fields:
        if field not in alive:
            replies.append(NO_FIELD)
        elif not applies(wanted, expires.get(field), when):
            replies.append(UNCHANGED)
        elif when <= keys.now:
            del alive[field]
            expires.pop(field, None)
            replies.append(DELETED)
        else:
            becomes_a_table = True
            expires[field] = when
            replies.append(DONE)
    if {DONE, DELETED} & set(replies):
        pairs = sorted(alive.items()) if becomes_a_table else alive.items()
        table = tuple(sorted(expires.items())) if becomes_a_table else None
        keys.change(key, Hash(tuple(pairs), table, fields_now.gone))
    return tuple(replies)


def _fields(words: list[bytes]) -> list[bytes]:
    """Read the number of fields, and their names."""
    if integer(words[0]) != len(words) - 1 or len(words) < 2:
        raise CommandRefused(NOT_SO_MANY)
    return words[1:]


def _moment(keys: Keyspace, name: bytes, number: bytes) -> int:
    amount = integer(number)
    scale = 1 if name.startswith(b"HP") else 1000
    base = 0 if name.endswith(b"AT") else keys.now
    if not 0 <= amount <= (HIGHEST - base) // scale:
        raise CommandRefused(f"ERR invalid expire time in '{name.decode().lower()}' command")
    return base + amount * scale


def ttl(keys: Keyspace, command: Command) -> Reply:
    """HTTL rounds to the nearest second; HPTTL is exact."""
    fields_now, fields = _asked(keys, command)
    alive, expires = dict(fields_now.pairs), dict(fields_now.expires or ())
    left = {
        field: time_left(keys, until, exact=command[0] == b"HPTTL")
        for field, until in expires.items()
    }
    return tuple(left.get(field, NO_EXPIRY) if field in alive else NO_FIELD for field in fields)


def persist(keys: Keyspace, command: Command) -> Reply:
    """HPERSIST."""
    fields_now, fields = _asked(keys, command)
    alive, expires = dict(fields_now.pairs), dict(fields_now.expires or ())
    replies = []
    for field in fields:
        had = expires.pop(field, None)
        replies.append(NO_FIELD if field not in alive else NO_EXPIRY if had is None else DONE)
    if DONE in replies:
        keys.change(command[1], fields_now._replace(expires=tuple(sorted(expires.items()))))
    return tuple(replies)


def _asked(keys: Keyspace, command: Command) -> tuple[Hash, list[bytes]]:
    _, key, word, *words = command
    if word.upper() != b"FIELDS":
        raise Undefined(f"{command[0].decode()} without FIELDS")
    fields = _fields(words)
    return hash_of(keys, key), fields
