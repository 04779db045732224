"""Commands on sets and hashes."""

from __future__ import annotations

from collections.abc import Iterable

from badluck.model.keyspace import Keyspace
from badluck.model.parsing import (
    HIGHEST,
    LOWEST,
    SYNTAX,
    WRONG_TYPE,
    CommandRefused,
    Undefined,
    integer,
    positive,
)
from badluck.model.values import OK, Command, Hash, Reply

MAX_MEMBERS = 10_000  # members in one reply to a client that may ask for repeated ones


def members_of(keys: Keyspace, key: bytes) -> frozenset[bytes]:
    return keys.value(key, frozenset) or frozenset()


def sadd(keys: Keyspace, command: Command) -> Reply:
    old = members_of(keys, command[1])
    new = old | set(command[2:])
    if new != old:
        keys.change(command[1], new)
    return len(new) - len(old)


def srem(keys: Keyspace, command: Command) -> Reply:
    old = members_of(keys, command[1])
    new = old - set(command[2:])
    if new != old:
        keys.change(command[1], new)
    return len(old) - len(new)


def smismember(keys: Keyspace, command: Command) -> Reply:
    members = members_of(keys, command[1])
    return tuple(int(word in members) for word in command[2:])


def spop(keys: Keyspace, command: Command) -> Reply:
    """Take the alphabetically first members: the server's own choice is unknown."""
    _, key, *number = command
    if len(number) > 1:
        raise CommandRefused(SYNTAX)
    count = positive(number[0]) if number else 1
    members = sorted(members_of(keys, key))
    taken = tuple(members[:count])
    if taken:
        keys.change(key, frozenset(members[count:]))
    if number:
        return taken
    return taken[0] if taken else None


def srandmember(keys: Keyspace, command: Command) -> Reply:
    """Return the alphabetically first members, as SPOP does."""
    if len(command) > 3:
        raise CommandRefused(SYNTAX)
    count = drawn(command)
    return first_ones(sorted(members_of(keys, command[1])), count)


def drawn(command: Command) -> int | None:
    """Return how many SRANDMEMBER and ZRANDMEMBER draw; None: one, not in a list."""
    count = integer(command[2]) if len(command) > 2 else None
    if count is not None and count < -MAX_MEMBERS:
        raise NotImplementedError(f"{command[0].decode()} of {-count:,}")
    return count


def first_ones(members: list[bytes], count: int | None) -> Reply:
    """Return the first ones; if `count` is below 0, the very first again and again."""
    if count is None:
        return members[0] if members else None
    return tuple(members[:count] if count >= 0 else members[:1] * -count)


def smove(keys: Keyspace, command: Command) -> Reply:
    _, source, target, member = command
    old = members_of(keys, source)
    if not old:
        return 0
    members = members_of(keys, target)
    if member not in old:
        return 0
    if source != target:
        keys.change(source, old - {member})
        if member not in members:
            keys.change(target, members | {member})
    return 1


def hash_of(keys: Keyspace, key: bytes) -> Hash:
    entry = keys.entries.get(key)
    if entry is None:
        return Hash(())
    if not isinstance(entry.value, Hash):
        raise CommandRefused(WRONG_TYPE)
    if keys.due(entry.value):
        raise Undefined("a hash at the very ms at which a field of it expires")
    return entry.value


def fields_of(keys: Keyspace, key: bytes) -> dict[bytes, bytes]:
    return dict(hash_of(keys, key).pairs)


def put_fields(
    keys: Keyspace, key: bytes, fields: dict[bytes, bytes], replaced: Iterable[bytes] = ()
) -> None:
    """Write all fields of a hash; the `replaced` fields lose their expiry."""
    old = hash_of(keys, key)
    if old.gone and not old.pairs and keys.entries[key].expires is not None:
        raise Undefined("a hash with an expiry whose fields have all expired")
    pairs, expires = tuple(fields.items()), old.expires
    if expires is not None:
        remaining = fields.keys() - set(replaced)
        pairs, expires = (
            tuple(sorted(pairs)),
            tuple(expiry for expiry in expires if expiry[0] in remaining),
        )
    keys.change(key, Hash(pairs, expires, old.gone.difference(fields)))


def hset(keys: Keyspace, command: Command) -> Reply:
    """HSET, HMSET."""
    name, key, *words = command
    if len(words) % 2:
        raise CommandRefused(f"ERR wrong number of arguments for '{name.decode().lower()}' command")
    old = fields_of(keys, key)
    new = old | dict(zip(words[::2], words[1::2], strict=True))
    put_fields(keys, key, new, replaced=words[::2])
    return OK if name == b"HMSET" else len(new) - len(old)


def hsetnx(keys: Keyspace, command: Command) -> Reply:
    old = fields_of(keys, command[1])
    if command[2] in old:
        return 0
    put_fields(keys, command[1], old | {command[2]: command[3]})
    return 1


def hdel(keys: Keyspace, command: Command) -> Reply:
    old = fields_of(keys, command[1])
    new = {field: value for field, value in old.items() if field not in command[2:]}
    if len(new) < len(old):
        put_fields(keys, command[1], new)
    return len(old) - len(new)


def hlen(keys: Keyspace, command: Command) -> Reply:
    fields = hash_of(keys, command[1])
    if fields.gone:
        raise Undefined("HLEN where a field has expired")
    return len(fields.pairs)


def hincrby(keys: Keyspace, command: Command) -> Reply:
    by = integer(command[3])
    fields = fields_of(keys, command[1])
    try:
        old = integer(fields.get(command[2], b"0"))
    except CommandRefused:
        raise CommandRefused("ERR hash value is not an integer") from None
    if not LOWEST <= old + by <= HIGHEST:
        raise CommandRefused("ERR increment or decrement would overflow")
    put_fields(keys, command[1], fields | {command[2]: b"%d" % (old + by)})
    return old + by
