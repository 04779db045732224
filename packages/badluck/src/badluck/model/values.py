"""What a key may hold: immutable values, so that a state of the server can be kept and compared."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from redis.exceptions import ResponseError

# A list is a tuple of bytes, a set a frozenset of bytes, a string bytes.


class Double(bytes):
    """A number in a reply, in as few digits as will do, as Valkey writes it.

    Redis 7 writes 17 of them; to redis-py both are the same float.
    """

    __slots__ = ()


class Hash(NamedTuple):
    """Fields in the order in which they came; once one had an expiry, in that of the alphabet.

    For then a server has an order of its own.
    """

    pairs: tuple[tuple[bytes, bytes], ...]
    expires: tuple[tuple[bytes, int], ...] | None = None  # ms since 1970; None: no field had one
    gone: frozenset[bytes] = frozenset()  # expired: a server keeps them until it comes by


class SortedSet(NamedTuple):
    """Members, each with its score; a range sorts them."""

    scores: frozenset[tuple[bytes, float]]


class StreamEntry(NamedTuple):
    id: tuple[int, int]
    fields: tuple[bytes, ...]


class Pending(NamedTuple):
    """Given to a consumer, and not acknowledged."""

    id: tuple[int, int]
    consumer: bytes
    since: int  # ms since 1970
    given: int = 0  # how often; 0: nobody counts


class Group(NamedTuple):
    name: bytes
    last: tuple[int, int]  # given to anybody in it
    pending: tuple[Pending, ...] = ()  # by id


class Stream(NamedTuple):
    last: tuple[int, int]  # the highest id ever given
    entries: tuple[StreamEntry, ...]
    added: int = 0  # ever
    deleted: tuple[int, int] = (0, 0)  # the highest id of those
    groups: tuple[Group, ...] = ()


Value = bytes | tuple[bytes, ...] | frozenset[bytes] | Hash | SortedSet | Stream
Command = tuple[bytes, ...]


class Entry(NamedTuple):
    value: Value
    expires: int | None  # ms since 1970; alive until the clock is past it


class Ok(str):
    """A simple string in a reply, as in +OK."""

    __slots__ = ()


OK = Ok("OK")
QUEUED = Ok("QUEUED")


@dataclass(frozen=True, slots=True)
class Err:
    """An error in a reply; a value, so that replies can be compared."""

    text: str


class SomeTime:
    """How long a key or a field still lives, for who is to see that it expires, and not when."""

    def _is_more(self, other: object) -> bool:
        if isinstance(other, int) and other <= 0:
            return True
        raise TypeError("whether a key expires is to be seen, as by ttl(key) > 0, and not when")

    def _is_less(self, other: object) -> bool:
        return not self._is_more(other)

    __gt__ = __ge__ = __ne__ = _is_more
    __lt__ = __le__ = __eq__ = _is_less
    __hash__ = None  # type: ignore[assignment]


Reply = None | int | bytes | Ok | Err | SomeTime | tuple["Reply", ...]


class NeverAnswers(Exception):
    """A script without an end."""


class Uncounted(BaseException):
    """How often an entry was given is asked, and nobody has counted; no `except Exception` of the
    code in question catches it."""


class Undefined(NotImplementedError):
    """Of which servers, or the processors below them, make different things."""


class CommandRefused(ResponseError):
    """A command that the server answers with an error."""


WRONG_TYPE = "WRONGTYPE Operation against a key holding the wrong kind of value"
NOT_POSITIVE = "ERR value is out of range, must be positive"
NOT_AN_INTEGER = "ERR value is not an integer or out of range"
SYNTAX = "ERR syntax error"
LOWEST, HIGHEST = -(2**63), 2**63 - 1
MAX_WAIT_MS = HIGHEST - 2**42  # ms that a client may wait: whatever the clock says, the sum fits


def integer(text: bytes) -> int:
    """As the server reads one: no sign but a minus, no spaces, no leading zeros, 64 bits."""
    try:
        number = int(text)
    except ValueError:
        raise CommandRefused(NOT_AN_INTEGER) from None
    if b"%d" % number != text or not LOWEST <= number <= HIGHEST:
        raise CommandRefused(NOT_AN_INTEGER)
    return number


def positive(text: bytes) -> int:
    """An integer, and none below 0."""
    try:
        number = integer(text)
    except CommandRefused:
        raise CommandRefused(NOT_POSITIVE) from None
    if number < 0:
        raise CommandRefused(NOT_POSITIVE)
    return number


def milliseconds(text: bytes) -> int:
    """How long a client is ready to wait."""
    amount = integer(text)
    if amount < 0:
        raise CommandRefused("ERR timeout is negative")
    if amount > MAX_WAIT_MS:  # Redis 7 waits, newer servers refuse
        raise Undefined(f"a wait of {amount:,} ms")
    return amount
