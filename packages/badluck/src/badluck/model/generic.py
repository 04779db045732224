"""Commands on keys of any type: expiry, deletion, names."""

from __future__ import annotations

from badluck.model.keyspace import Keyspace
from badluck.model.parsing import HIGHEST, SYNTAX, CommandRefused, Undefined, integer
from badluck.model.values import OK, Command, Hash, Ok, Reply, SomeTime, SortedSet, Stream

TYPES = {
    bytes: "string",
    tuple: "list",
    frozenset: "set",
    SortedSet: "zset",
    Hash: "hash",
    Stream: "stream",
}
CONDITIONS = {b"NX", b"XX", b"GT", b"LT"}


def delete(keys: Keyspace, command: Command) -> Reply:
    return sum([keys.get(key) is not None and keys.delete(key) for key in command[1:]])


def type_(keys: Keyspace, command: Command) -> Reply:
    entry = keys.get(command[1])
    return Ok(TYPES[type(entry.value)] if entry else "none")


def expire(keys: Keyspace, command: Command) -> Reply:
    """EXPIRE, PEXPIRE, EXPIREAT, PEXPIREAT."""
    name, key, number, *conditions = command
    wanted = set(map(bytes.upper, conditions))
    amount = integer(number)
    scale = 1 if name.startswith(b"P") else 1000
    base = 0 if name.endswith(b"AT") else keys.now
    if not -(HIGHEST // scale) <= amount <= (HIGHEST - base) // scale:
        raise CommandRefused(f"ERR invalid expire time in '{name.decode().lower()}' command")
    for word in wanted - CONDITIONS:
        raise CommandRefused(f"ERR Unsupported option {word.decode()}")
    keys.told_time |= base == 0
    when = base + amount * scale
    entry = keys.get(key)
    if entry is None or not applies(wanted, entry.expires, when):
        return 0
    if when <= keys.now:
        keys.delete(key)
    else:
        keys.put(key, entry.value, when)
    return 1


def applies(wanted: set[bytes], old: int | None, when: int) -> bool:
    if b"NX" in wanted and old is not None:
        return False
    if b"XX" in wanted and old is None:
        return False
    if b"GT" in wanted and (old is None or when <= old):
        return False
    return not (b"LT" in wanted and old is not None and when >= old)


def persist(keys: Keyspace, command: Command) -> Reply:
    entry = keys.get(command[1])
    if entry is None or entry.expires is None:
        return 0
    keys.put(command[1], entry.value)
    return 1


def expiry(keys: Keyspace, command: Command) -> Reply:
    """TTL, PTTL, EXPIRETIME, PEXPIRETIME; seconds are rounded to the nearest."""
    name, key = command
    entry = keys.get(key)
    if entry is None:
        return -2
    if entry.expires is None:
        return -1
    exact = name.startswith(b"P")
    if name.endswith(b"TTL"):
        return time_left(keys, entry.expires, exact)
    keys.told_time = True
    return entry.expires if exact else (entry.expires + 500) // 1000


def time_left(keys: Keyspace, until: int, exact: bool) -> int | SomeTime:
    """Return the time left: in ms if it is `exact`, else in s, to the nearest; `until` in ms since
    1970.
    """
    if keys.no_clock:
        return SomeTime()
    left = until - keys.now
    return left if exact else (left + 500) // 1000


def rename(keys: Keyspace, command: Command) -> Reply:
    name, old, new = command
    entry = keys.get(old)
    if entry is None:
        raise CommandRefused("ERR no such key")
    if name == b"RENAMENX" and keys.get(new):
        return 0
    if old != new:
        keys.delete(old)
        keys.delete(new)  # clients that block on it are served
        keys.put(new, entry.value, entry.expires)
    return 1 if name == b"RENAMENX" else OK


def copy(keys: Keyspace, command: Command) -> Reply:
    _, source, target, *options = command
    if any(word.upper() == b"DB" for word in options):
        raise NotImplementedError("COPY to another database")
    if any(word.upper() != b"REPLACE" for word in options):
        raise CommandRefused(SYNTAX)
    if source == target:
        raise CommandRefused("ERR source and destination objects are the same")
    entry = keys.get(source)
    if entry is None or (keys.get(target) and not options):
        return 0
    if isinstance(entry.value, Hash) and (entry.value.expires is not None or entry.value.gone):
        raise Undefined("COPY of a hash whose fields expire")
    keys.delete(target)  # clients that block on it are served
    keys.put(target, entry.value, entry.expires)
    return 1


def flush(keys: Keyspace, command: Command) -> Reply:
    """FLUSHDB, FLUSHALL: there is one database."""
    if len(command) > 2 or any(word.upper() not in {b"SYNC", b"ASYNC"} for word in command[1:]):
        raise CommandRefused(SYNTAX)
    for key in list(keys.entries):
        keys.delete(key)
    return OK


def time(keys: Keyspace, _: Command) -> Reply:
    keys.told_time = True
    return (b"%d" % (keys.now // 1000), b"%d" % (keys.now % 1000 * 1000))
