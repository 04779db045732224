"""What a shop's store says: units, sales and the lock."""

from __future__ import annotations

from typing import NamedTuple

from badluck.target import Lock, Shown

UNITS = (1, 10)  # that may be asked for, at the least and at the most


class Sold(NamedTuple):
    """One sale that the store knows of."""

    id: str
    quantity: int


class Book(NamedTuple):
    left: int  # units
    sales: tuple[Sold, ...]
    lock: Lock | None

    def shown(self) -> Shown:
        lock = self.lock.value if self.lock else b""
        return Shown(self.left, lock.decode("utf-8", "backslashreplace"), len(self.sales))


def shelf(stock: int, quantity: int = 1, think: int = 0) -> str:
    """What the buyers find, for people; `think` in ms."""
    units = "unit" if stock == 1 else "units"
    each = f", {quantity} each" if quantity > 1 else ""
    return f"{stock} {units} on the shelf{each}" + (f", {think} ms of thinking" if think else "")
