"""The content of a shop's store in a round whose buyers hold first and then pay."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from badluck.model.values import Entry, Hash, SortedSet, Stream
from badluck.report.saved_traces import Columns
from badluck.target import Shown, StoredLock

from app.domain import Order
from app.explorer.book import COLUMNS, Book, Sold
from app.store.keys import Keys

HELD_COLUMNS: Columns = {**COLUMNS, "held": int}


class End(NamedTuple):
    """How a hold has ended, as the store has it; `deadline` in ms since 1970."""

    id: str
    stands: str
    deadline: int


class HeldBook(NamedTuple):
    """A book with holds. `held` is neither in stock nor paid for; `unseen` no sweep would find."""

    left: int  # units
    sales: tuple[Sold, ...]
    lock: StoredLock | None
    held: tuple[Sold, ...]
    ends: tuple[End, ...]
    paid_at: tuple[tuple[str, int], ...]  # an order's id, and when it was paid, ms since 1970
    unseen: tuple[str, ...]

    def shown(self) -> Shown:
        known = Book(self.left, self.sales, self.lock).shown()
        return known | {"held": sum(sale.quantity for sale in self.held)}


def read(book: Book, entries: dict[bytes, Entry], names: Keys) -> HeldBook:
    """Read the holds; `book` has stock, sales and lock."""
    held = {order.id: order.quantity for order in _held(entries, names)}
    fresh = {order.id for _, order in _stream(entries, names.holds)}
    known = {member.decode() for member, _ in _due(entries, names)}
    prefix = names.hold("").encode()
    ends = []
    for key, entry in entries.items():
        if key.startswith(prefix) and isinstance(entry.value, bytes):
            stands, _, deadline = entry.value.decode().partition(" ")
            ends.append(End(key.removeprefix(prefix).decode(), stands, int(deadline)))
    return HeldBook(
        *book,
        tuple(Sold(*each) for each in held.items()),
        tuple(ends),
        tuple((order.id, at) for at, order in _stream(entries, names.sales)),
        tuple(sorted(held.keys() - fresh - known)),
    )


def moments(entries: dict[bytes, Entry], names: Keys, hold: int) -> Iterable[int]:
    """Return when holds run out, or when their units should be back; ms since 1970."""
    yield from (at + hold for at, _ in _stream(entries, names.holds))
    yield from (int(at) for _, at in _due(entries, names))


def _held(entries: dict[bytes, Entry], names: Keys) -> Iterator[Order]:
    entry = entries.get(names.held.encode())
    if entry and isinstance(entry.value, Hash):
        yield from (Order.decode(sale) for _, sale in entry.value.pairs)
    yield from (order for _, order in _stream(entries, names.holds))


def _stream(entries: dict[bytes, Entry], name: str) -> Iterator[tuple[int, Order]]:
    """Yield each order with the ms since 1970 at which it was written."""
    entry = entries.get(name.encode())
    if entry and isinstance(entry.value, Stream):
        for record in entry.value.entries:
            yield record.id[0], Order.decode(record.fields[1])


def _due(entries: dict[bytes, Entry], names: Keys) -> Iterable[tuple[bytes, float]]:
    entry = entries.get(names.due.encode())
    return entry.value.scores if entry and isinstance(entry.value, SortedSet) else ()
