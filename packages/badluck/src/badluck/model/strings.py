"""Commands on strings."""

from __future__ import annotations

from badluck.model.keyspace import Keyspace
from badluck.model.parsing import HIGHEST, LOWEST, SYNTAX, CommandRefused, Undefined, integer
from badluck.model.values import OK, Command, Reply

MAX_BYTES = 512 * 2**20  # bytes of a string
MAX_FILLED_BYTES = 100_000  # bytes that SETRANGE fills: the model keeps no string so long
DIGITS = {b"EX": 1000, b"PX": 1, b"EXAT": 1000, b"PXAT": 1}


def set_(keys: Keyspace, command: Command) -> Reply:
    _, key, value, *options = command
    flags, expires, expected = set(), None, None
    words = iter(options)
    for raw in words:
        word = raw.upper()
        if word in DIGITS:
            if expires is not None or b"KEEPTTL" in flags:
                raise CommandRefused(SYNTAX)
            expires = _expiry(keys, word, next(words, None), b"set")
        elif word in {b"NX", b"XX", b"GET", b"KEEPTTL", b"IFEQ"}:
            flags.add(word)
        else:
            raise CommandRefused(SYNTAX)
        if word == b"IFEQ" and (expected := next(words, None)) is None:
            raise CommandRefused(SYNTAX)
    if len(flags & {b"NX", b"XX", b"IFEQ"}) > 1:
        raise CommandRefused(SYNTAX)
    if b"KEEPTTL" in flags and expires is not None:
        raise CommandRefused(SYNTAX)
    old = keys.value(key, bytes) if flags & {b"GET", b"IFEQ"} else None
    entry = keys.get(key)
    done = not (b"NX" in flags and entry) and not (b"XX" in flags and not entry)
    if b"IFEQ" in flags:
        done = old is not None and old == expected
    if done:
        if b"KEEPTTL" in flags and entry:
            expires = entry.expires
        if expires == keys.now:  # Redis 7 keeps it for this millisecond, newer servers do not
            raise Undefined("SET of what expires at this very millisecond")
        keys.put(key, value, expires)
        if expires is not None and expires < keys.now:
            keys.delete(key)  # a client that watches it has been notified
    if b"GET" in flags:
        return old
    return OK if done else None


def _expiry(keys: Keyspace, word: bytes, number: bytes | None, command: bytes) -> int:
    if number is None:
        raise CommandRefused(SYNTAX)
    amount = integer(number)
    if amount <= 0 or amount > HIGHEST // 1000:
        raise CommandRefused(f"ERR invalid expire time in '{command.decode()}' command")
    keys.told_time |= word.endswith(b"AT")
    return amount * DIGITS[word] + (0 if word.endswith(b"AT") else keys.now)


def setnx(keys: Keyspace, command: Command) -> Reply:
    _, key, value = command
    if keys.get(key):
        return 0
    keys.put(key, value)
    return 1


def setex(keys: Keyspace, command: Command) -> Reply:
    name, key, amount, value = command
    word = b"PX" if name == b"PSETEX" else b"EX"
    keys.put(key, value, _expiry(keys, word, amount, name.lower()))
    return OK


def getset(keys: Keyspace, command: Command) -> Reply:
    old = keys.value(command[1], bytes)
    keys.put(command[1], command[2])
    return old


def getdel(keys: Keyspace, command: Command) -> Reply:
    old = keys.value(command[1], bytes)
    keys.delete(command[1])
    return old


def getex(keys: Keyspace, command: Command) -> Reply:
    """Return the value, and set another expiry for it, or none."""
    _, key, *options = command
    word = options[0].upper() if options else b""
    if options and not (
        (word in DIGITS and len(options) == 2) or (word == b"PERSIST" and len(options) == 1)
    ):
        raise CommandRefused(SYNTAX)
    expires, wrong = None, None
    if len(options) == 2:
        try:
            expires = _expiry(keys, word, options[1], b"getex")
        except CommandRefused as refused:
            wrong = refused
    entry = keys.get(key)
    if wrong and not (entry and isinstance(entry.value, bytes)):
        # Redis 7 looks for the key first, newer servers check the words first.
        raise Undefined("GETEX with a wrong expiry, where no string is") from None
    if wrong:
        raise wrong
    old = keys.value(key, bytes)
    if old is None or not options:
        return old
    if expires is not None and expires <= keys.now:
        keys.delete(key)
    elif expires is not None or keys.entries[key].expires is not None:
        keys.put(key, old, expires)
    return old


def mget(keys: Keyspace, command: Command) -> Reply:
    entries = [keys.get(key) for key in command[1:]]
    return tuple(
        entry.value if entry and isinstance(entry.value, bytes) else None for entry in entries
    )


def mset(keys: Keyspace, command: Command) -> Reply:
    pairs = _pairs(command)
    for key, value in pairs:
        keys.put(key, value)
    return OK


def msetnx(keys: Keyspace, command: Command) -> Reply:
    pairs = _pairs(command)
    if any(keys.get(key) for key, _ in pairs):
        return 0
    for key, value in pairs:
        keys.put(key, value)
    return 1


def _pairs(command: Command) -> list[tuple[bytes, bytes]]:
    if len(command) % 2 == 0:
        raise CommandRefused(
            f"ERR wrong number of arguments for '{command[0].decode().lower()}' command"
        )
    return list(zip(command[1::2], command[2::2], strict=True))


def add(keys: Keyspace, command: Command) -> Reply:
    """INCR, DECR, INCRBY, DECRBY."""
    name, key = command[:2]
    by = integer(command[2]) if len(command) == 3 else 1
    if name.startswith(b"DECR"):
        if by == LOWEST:
            raise CommandRefused("ERR decrement would overflow")
        by = -by
    old = keys.value(key, bytes)
    number = (0 if old is None else integer(old)) + by
    if not LOWEST <= number <= HIGHEST:
        raise CommandRefused("ERR increment or decrement would overflow")
    keys.change(key, b"%d" % number)
    return number


def append(keys: Keyspace, command: Command) -> Reply:
    text = (keys.value(command[1], bytes) or b"") + command[2]
    keys.change(command[1], text)
    return len(text)


def getrange(keys: Keyspace, command: Command) -> Reply:
    """Return part of a string; negative positions count from the end."""
    start, stop = integer(command[2]), integer(command[3])
    text = keys.value(command[1], bytes) or b""
    return text[span(start, stop, len(text))]


def span(start: int, stop: int, size: int) -> slice:
    """Return the slice from start to stop, both included, as GETRANGE and BITCOUNT use it.

    A position before the beginning counts as the beginning, even as the end of the range; for lists
    such a range is empty.
    """
    if start < 0 and stop < 0 and start > stop:
        return slice(0, 0)
    start, stop = (max(0, at + size) if at < 0 else at for at in (start, stop))
    return slice(start, stop + 1)


def setrange(keys: Keyspace, command: Command) -> Reply:
    """Overwrite a part; bytes that are missing before it become zeros."""
    _, key, offset, part = command
    start = integer(offset)
    if start < 0:
        raise CommandRefused("ERR offset is out of range")
    text = keys.value(key, bytes) or b""
    if not part:
        return len(text)
    if start + len(part) > MAX_BYTES:
        raise CommandRefused("ERR string exceeds maximum allowed size (proto-max-bulk-len)")
    if start + len(part) > MAX_FILLED_BYTES:
        raise NotImplementedError(f"SETRANGE from {start:,}")
    text = text[:start].ljust(start, b"\0") + part + text[start + len(part) :]
    keys.change(key, text)
    return len(text)
