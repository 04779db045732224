"""Commands on sets and hashes."""

from __future__ import annotations

from badluck.simulated.keyspace import Keyspace
from badluck.simulated.values import (
    HIGHEST,
    LOWEST,
    OK,
    WRONG_TYPE,
    Command,
    Hash,
    Refused,
    Reply,
    integer,
)


def _set(keys: Keyspace, key: bytes) -> frozenset[bytes]:
    return keys.value(key, frozenset) or frozenset()


def sadd(keys: Keyspace, command: Command) -> Reply:
    old = _set(keys, command[1])
    new = old | set(command[2:])
    if new != old:
        keys.change(command[1], new)
    return len(new) - len(old)


def srem(keys: Keyspace, command: Command) -> Reply:
    old = _set(keys, command[1])
    new = old - set(command[2:])
    if new != old:
        keys.change(command[1], new)
    return len(old) - len(new)


def sismember(keys: Keyspace, command: Command) -> Reply:
    return int(command[2] in _set(keys, command[1]))


def scard(keys: Keyspace, command: Command) -> Reply:
    return len(_set(keys, command[1]))


def smembers(keys: Keyspace, command: Command) -> Reply:
    """In the order of the alphabet; the server's own order is its secret."""
    return tuple(sorted(_set(keys, command[1])))


def _hash(keys: Keyspace, key: bytes) -> dict[bytes, bytes]:
    entry = keys.get(key)
    if entry is None:
        return {}
    if not isinstance(entry.value, Hash):
        raise Refused(WRONG_TYPE)
    return dict(entry.value.pairs)


def _put(keys: Keyspace, key: bytes, fields: dict[bytes, bytes]) -> None:
    keys.change(key, Hash(tuple(fields.items())))


def hset(keys: Keyspace, command: Command) -> Reply:
    """HSET, HMSET."""
    name, key, *words = command
    if len(words) % 2:
        raise Refused(f"ERR wrong number of arguments for '{name.decode().lower()}' command")
    old = _hash(keys, key)
    new = old | dict(zip(words[::2], words[1::2], strict=True))
    _put(keys, key, new)
    return OK if name == b"HMSET" else len(new) - len(old)


def hsetnx(keys: Keyspace, command: Command) -> Reply:
    old = _hash(keys, command[1])
    if command[2] in old:
        return 0
    _put(keys, command[1], old | {command[2]: command[3]})
    return 1


def hget(keys: Keyspace, command: Command) -> Reply:
    return _hash(keys, command[1]).get(command[2])


def hmget(keys: Keyspace, command: Command) -> Reply:
    fields = _hash(keys, command[1])
    return tuple(fields.get(field) for field in command[2:])


def hgetall(keys: Keyspace, command: Command) -> Reply:
    return tuple(word for pair in _hash(keys, command[1]).items() for word in pair)


def hvals(keys: Keyspace, command: Command) -> Reply:
    return tuple(_hash(keys, command[1]).values())


def hdel(keys: Keyspace, command: Command) -> Reply:
    old = _hash(keys, command[1])
    new = {field: value for field, value in old.items() if field not in command[2:]}
    if len(new) < len(old):
        _put(keys, command[1], new)
    return len(old) - len(new)


def hexists(keys: Keyspace, command: Command) -> Reply:
    return int(command[2] in _hash(keys, command[1]))


def hlen(keys: Keyspace, command: Command) -> Reply:
    return len(_hash(keys, command[1]))


def hincrby(keys: Keyspace, command: Command) -> Reply:
    by = integer(command[3])
    fields = _hash(keys, command[1])
    try:
        old = integer(fields.get(command[2], b"0"))
    except Refused:
        raise Refused("ERR hash value is not an integer") from None
    if not LOWEST <= old + by <= HIGHEST:
        raise Refused("ERR increment or decrement would overflow")
    _put(keys, command[1], fields | {command[2]: b"%d" % (old + by)})
    return old + by
