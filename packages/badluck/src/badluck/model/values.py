"""Immutable values of keys, so that states of a server can be kept and compared."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

# A list is a tuple of bytes, a set a frozenset of bytes, a string bytes.


class Double(bytes):
    """A number in a reply, in its shortest form, as Valkey writes it.

    Redis 7 writes 17 digits; for redis-py both are the same float.
    """

    __slots__ = ()


class Hash(NamedTuple):
    """Fields in the order in which they came; alphabetical, once a field has had an expiry.

    From then on the server uses an order of its own.
    """

    pairs: tuple[tuple[bytes, bytes], ...]
    expires: tuple[tuple[bytes, int], ...] | None = None  # ms since 1970; None: no field had one
    gone: frozenset[bytes] = frozenset()  # expired: a server keeps them until it next looks


class SortedSet(NamedTuple):
    """Members, each with its score; a range sorts them."""

    scores: frozenset[tuple[bytes, float]]


class StreamEntry(NamedTuple):
    id: tuple[int, int]
    fields: tuple[bytes, ...]


class Pending(NamedTuple):
    """An entry that was given to a consumer, and not acknowledged."""

    id: tuple[int, int]
    consumer: bytes
    since: int  # ms since 1970
    given: int = 0  # how often; 0: not counted


class Group(NamedTuple):
    name: bytes
    last: tuple[int, int]  # given to any consumer of the group
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
    """The remaining life of a key or a field, for a reader that must see only that it expires."""

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
    """A command asks how often an entry was given, which is not counted.

    A BaseException, so that no `except Exception` of the explored code catches it.
    """
