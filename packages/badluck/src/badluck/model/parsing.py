"""Numbers in the words of a command, and errors about a command."""

from __future__ import annotations

from redis.exceptions import ResponseError

WRONG_TYPE = "WRONGTYPE Operation against a key holding the wrong kind of value"
NOT_POSITIVE = "ERR value is out of range, must be positive"
NOT_AN_INTEGER = "ERR value is not an integer or out of range"
SYNTAX = "ERR syntax error"
LOWEST, HIGHEST = -(2**63), 2**63 - 1
MAX_WAIT_MS = HIGHEST - 2**42  # ms that a client may wait: added to any time, it still fits


class Undefined(NotImplementedError):
    """A case in which servers or processors differ."""


class CommandRefused(ResponseError):
    """A command that the server answers with an error."""


def integer(text: bytes) -> int:
    """Read an integer as the server does: 64 bits, no plus, no spaces, no leading zeros."""
    try:
        number = int(text)
    except ValueError:
        raise CommandRefused(NOT_AN_INTEGER) from None
    if b"%d" % number != text or not LOWEST <= number <= HIGHEST:
        raise CommandRefused(NOT_AN_INTEGER)
    return number


def positive(text: bytes) -> int:
    """Read an integer that is not below 0."""
    try:
        number = integer(text)
    except CommandRefused:
        raise CommandRefused(NOT_POSITIVE) from None
    if number < 0:
        raise CommandRefused(NOT_POSITIVE)
    return number


def milliseconds(text: bytes) -> int:
    """Read how long a client waits."""
    amount = integer(text)
    if amount < 0:
        raise CommandRefused("ERR timeout is negative")
    if amount > MAX_WAIT_MS:  # Redis 7 waits, newer servers refuse
        raise Undefined(f"a wait of {amount:,} ms")
    return amount
