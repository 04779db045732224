"""Commands on the bits of a string."""

from __future__ import annotations

from badluck.model.keyspace import Keyspace
from badluck.model.parsing import CommandRefused, Undefined, integer
from badluck.model.strings import span
from badluck.model.values import Command, Reply

HIGHEST_BIT = 2**32 - 1  # of a server
FAR = 8 * 100_000  # one bit more: the model keeps no string so long
NO_OFFSET = "ERR bit offset is not an integer or out of range"
NO_BIT = "ERR bit is not an integer or out of range"


def _offset(text: bytes) -> int:
    try:
        at = integer(text)
    except CommandRefused:
        at = -1
    if not 0 <= at <= HIGHEST_BIT:
        raise CommandRefused(NO_OFFSET)
    return at


def set_(keys: Keyspace, command: Command) -> Reply:
    _, key, offset, bit = command
    at = _offset(offset)
    if bit not in {b"0", b"1"}:
        raise CommandRefused(NO_BIT)
    old = bytearray(keys.value(key, bytes) or b"")
    if at >= FAR:
        raise NotImplementedError(f"SETBIT of bit {at:,}")
    old.extend(bytes(max(0, at // 8 + 1 - len(old))))
    mask = 1 << (7 - at % 8)
    was = bool(old[at // 8] & mask)
    if bit == b"1":
        old[at // 8] |= mask
    else:
        old[at // 8] &= ~mask
    keys.change(key, bytes(old))
    return int(was)


def get(keys: Keyspace, command: Command) -> Reply:
    at = _offset(command[2])
    text = keys.value(command[1], bytes) or b""
    return text[at // 8] >> (7 - at % 8) & 1 if at // 8 < len(text) else 0


def count(keys: Keyspace, command: Command) -> Reply:
    """BITCOUNT, of all or of a range of bytes or bits."""
    _, key, *options = command
    try:
        start, stop, unit = _range(options)
    except CommandRefused:
        raise Undefined("BITCOUNT with a wrong range") from None  # servers check in other orders
    text = keys.value(key, bytes) or b""
    bits = "".join(f"{byte:08b}" for byte in text)
    part = span(start, stop, len(bits) // unit)
    return bits[part.start * unit : part.stop * unit].count("1")


def _range(options: list[bytes]) -> tuple[int, int, int]:
    """Return the first and last position, and how many bits each position has."""
    if not options:
        return 0, -1, 8
    if len(options) == 1:
        raise Undefined("BITCOUNT with a start and no end")
    start, stop = integer(options[0]), integer(options[1])
    units = {b"BYTE": 8, b"BIT": 1}
    unit = units.get(options[2].upper() if len(options) == 3 else b"BYTE")
    if unit is None or len(options) > 3:
        raise CommandRefused("ERR syntax error")
    return start, stop, unit
