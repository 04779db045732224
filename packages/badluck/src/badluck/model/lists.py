"""Commands on lists."""

from __future__ import annotations

from badluck.model.keyspace import Keyspace
from badluck.model.parsing import LOWEST, SYNTAX, CommandRefused, integer, positive
from badluck.model.values import OK, Command, Reply


def _list(keys: Keyspace, key: bytes) -> tuple[bytes, ...] | None:
    return keys.value(key, tuple)


def push(keys: Keyspace, command: Command) -> Reply:
    """LPUSH, RPUSH, LPUSHX, RPUSHX."""
    name, key, *new = command
    old = _list(keys, key)
    if old is None and name.endswith(b"X"):
        return 0
    items = (*reversed(new), *(old or ())) if name.startswith(b"L") else (*(old or ()), *new)
    keys.change(key, items)
    return len(items)


def pop(keys: Keyspace, command: Command) -> Reply:
    """LPOP, RPOP."""
    name, key, *number = command
    count = 1
    if number:
        count = positive(number[0])
    old = _list(keys, key)
    if old is None:
        return None
    if number and count == 0:
        return ()
    if name == b"LPOP":
        taken, rest = old[:count], old[count:]
    else:
        taken, rest = old[::-1][:count], old[: max(0, len(old) - count)]
    keys.change(key, rest)
    return taken if number else taken[0]


def pop_first(keys: Keyspace, command: Command) -> Reply:
    """LMPOP: from the first key that is not empty."""
    names, end, limit = several(command, {b"LEFT", b"RIGHT"})
    for key in names:
        if _list(keys, key):
            name = b"LPOP" if end == b"LEFT" else b"RPOP"
            return key, pop(keys, (name, key, b"%d" % limit))
    return None


def several(command: Command, ends: set[bytes]) -> tuple[Command, bytes, int]:
    """Parse LMPOP and ZMPOP: the keys, the end to pop from, and the count."""
    size = above_zero(command[1], "numkeys")
    names, words = command[2 : 2 + size], [word.upper() for word in command[2 + size :]]
    if not words or words[0] not in ends:
        raise CommandRefused(SYNTAX)
    if len(words) == 1:
        return names, words[0], 1
    if len(words) != 3 or words[1] != b"COUNT":
        raise CommandRefused(SYNTAX)
    return names, words[0], above_zero(words[2], "count")


def above_zero(text: bytes, what: str) -> int:
    try:
        number = integer(text)
    except CommandRefused:
        number = 0
    if number < 1:
        raise CommandRefused(f"ERR {what} should be greater than 0")
    return number


def move(keys: Keyspace, command: Command) -> Reply:
    """LMOVE, RPOPLPUSH, and their blocking variants."""
    if command[0].endswith(b"RPOPLPUSH"):
        source, target, ends = command[1], command[2], (b"RIGHT", b"LEFT")
    else:
        source, target = command[1:3]
        ends = (command[3].upper(), command[4].upper())
        if not set(ends) <= {b"LEFT", b"RIGHT"}:
            raise CommandRefused(SYNTAX)
    items = _list(keys, source)
    if items is None:
        return None
    _list(keys, target)
    at = 0 if ends[0] == b"LEFT" else -1
    moved = items[at]
    if source == target:  # it is never empty in between, and keeps its expiry
        rest = items[1:] if at == 0 else items[:-1]
        keys.change(source, (moved, *rest) if ends[1] == b"LEFT" else (*rest, moved))
        return moved
    pop(keys, (b"LPOP" if at == 0 else b"RPOP", source))
    push(keys, (b"LPUSH" if ends[1] == b"LEFT" else b"RPUSH", target, moved))
    return moved


def range_(keys: Keyspace, command: Command) -> Reply:
    start, stop = integer(command[2]), integer(command[3])
    return slice_(_list(keys, command[1]) or (), start, stop)


def slice_(whole: tuple[bytes, ...], start: int, stop: int) -> tuple[bytes, ...]:
    """Return the items from start to stop, both included; negative ones count from the end."""
    start = max(0, start + len(whole) if start < 0 else start)
    stop = stop + len(whole) if stop < 0 else stop
    return whole[start : stop + 1] if stop >= start else ()


def index(keys: Keyspace, command: Command) -> Reply:
    items = _list(keys, command[1])
    if items is None:
        return None
    at = integer(command[2])
    return items[at] if -len(items) <= at < len(items) else None


def set_(keys: Keyspace, command: Command) -> Reply:
    items = _list(keys, command[1])
    if items is None:
        raise CommandRefused("ERR no such key")
    at = integer(command[2])
    if not -len(items) <= at < len(items):
        raise CommandRefused("ERR index out of range")
    changed = list(items)
    changed[at] = command[3]
    keys.change(command[1], tuple(changed))
    return OK


def trim(keys: Keyspace, command: Command) -> Reply:
    start, stop = integer(command[2]), integer(command[3])
    items = _list(keys, command[1])
    if items is not None:
        keys.change(command[1], slice_(items, start, stop))
    return OK


def remove(keys: Keyspace, command: Command) -> Reply:
    count, gone = integer(command[2]), command[3]
    items = _list(keys, command[1])
    if items is None:
        return 0
    left = abs(count) or len(items)
    rest: list[bytes] = []
    for word in items if count >= 0 else items[::-1]:
        if word == gone and left:
            left -= 1
        else:
            rest.append(word)
    removed = len(items) - len(rest)
    if removed:
        keys.change(command[1], tuple(rest if count >= 0 else rest[::-1]))
    return removed


def insert(keys: Keyspace, command: Command) -> Reply:
    """LINSERT."""
    _, key, where, pivot, word = command
    if where.upper() not in {b"BEFORE", b"AFTER"}:
        raise CommandRefused(SYNTAX)
    items = _list(keys, key)
    if items is None:
        return 0
    if pivot not in items:
        return -1
    at = items.index(pivot) + (where.upper() == b"AFTER")
    keys.change(key, (*items[:at], word, *items[at:]))
    return len(items) + 1


def position(keys: Keyspace, command: Command) -> Reply:
    """LPOS, with RANK, COUNT and MAXLEN."""
    _, key, sought, *options = command
    rank, count, limit = 1, None, 0
    while options:
        word = options.pop(0).upper()
        if word not in {b"RANK", b"COUNT", b"MAXLEN"} or not options:
            raise CommandRefused(SYNTAX)
        number = integer(options.pop(0))
        if word == b"RANK":
            if number in {0, LOWEST}:
                raise CommandRefused(f"ERR RANK can't be {number}")
            rank = number
        elif number < 0:
            raise CommandRefused(f"ERR {word.decode()} can't be negative")
        elif word == b"COUNT":
            count = number
        else:
            limit = number
    items = _list(keys, key) or ()
    places = range(len(items)) if rank > 0 else range(len(items) - 1, -1, -1)
    positions = [at for at in places[: limit or None] if items[at] == sought][abs(rank) - 1 :]
    if count is None:
        return positions[0] if positions else None
    return tuple(positions[: count or None])
