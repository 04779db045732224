"""The content of a shop's store: units, sales and the lock."""

from __future__ import annotations

from typing import NamedTuple

from badluck.report.saved_traces import Columns
from badluck.target import Shown, StoredLock

UNITS = (1, 10)  # units of a round: the fewest and the most
# The columns shown of a book: units on the shelf, the lock's value, orders that the store knows of.
COLUMNS: Columns = {"stock": int, "lock": str, "sold": int}


class Sold(NamedTuple):
    """One sale that the store knows of."""

    id: str
    quantity: int


class Book(NamedTuple):
    left: int  # units
    sales: tuple[Sold, ...]
    lock: StoredLock | None

    def shown(self) -> Shown:
        lock = self.lock.value.decode("utf-8", "backslashreplace") if self.lock else ""
        return dict(zip(COLUMNS, (self.left, lock, len(self.sales)), strict=True))


def shelf(stock: int, quantity: int = 1, think: int = 0) -> str:
    """Describe the buyers' setting for people; `think` is in ms."""
    units = "unit" if stock == 1 else "units"
    each = f", {quantity} each" if quantity > 1 else ""
    return f"{stock} {units} on the shelf{each}" + (f", {think} ms of thinking" if think else "")
