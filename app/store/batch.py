"""Several orders, decided one after another on one look at the store: for a mode's `sell_all`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

from app.domain import Order, Outcome, Sale, Unreadable
from app.store.keys import Keys
from app.store.per_buyer import PerBuyer

Answered = Sale | Unreadable  # the latter: its key has bought, and nobody here can read what


class Batch:
    """What becomes of each order, in their order, as if each had come by itself.

    `reads` are the keys to look at. Once that is decided, `sold` are the orders to write down,
    `noted` the keys to set with them, and `left` is the stock then.
    """

    def __init__(self, keys: Keys, per_buyer: PerBuyer, orders: Sequence[Order]) -> None:
        self.keys = keys
        self.per_buyer = per_buyer
        self.orders = orders
        names = ((keys.key(order.key), *per_buyer.counter(order)) for order in orders)
        self.reads = [keys.stock, *dict.fromkeys(chain.from_iterable(names))]

    def decide(self, values: Sequence[bytes | str | None]) -> None:
        """On the values of `reads`. What one order changes, those behind it see."""
        self.known: dict[str, Any] = dict(zip(self.reads, values, strict=True))
        self.left = int(self.known[self.keys.stock] or 0)
        self.sold: list[Order] = []
        self.noted: dict[str, bytes] = {}
        busy = Sale(Outcome.BUSY, left=self.left)
        self.sales: list[Answered] = []
        self.unwritten: list[Answered] = []
        for order in self.orders:
            sale = self._one(order)
            self.sales.append(sale)
            self.unwritten.append(busy if self._hangs_on_the_write(sale) else sale)

    def answers(self, written: bool = True, **tried: Any) -> list[Answered]:
        """Of each order, with how it was `tried`: members of a Sale. Not `written`: BUSY.

        But to those whose answer has nothing to do with the write.
        """
        answers = self.sales if written else self.unwritten
        return [replace(each, **tried) if isinstance(each, Sale) else each for each in answers]

    def _one(self, order: Order) -> Answered:
        if seen := self.known[self.keys.key(order.key)]:
            try:
                return Sale(Outcome.SOLD, order=Order.decode(seen))
            except Unreadable as error:
                return error
        if self.known[self.keys.stock] is None:
            return Sale(Outcome.ROUND_OVER)
        left = self.left - order.quantity
        if left < 0:
            return Sale(Outcome.SOLD_OUT, left=self.left)
        bought = [self.known[name] for name in self.per_buyer.counter(order)]
        if refusal := self.per_buyer.refusal(order, bought, self.left):
            return refusal
        noted = self.keys.copies(order) | self.per_buyer.counted(order, bought)
        self.noted |= noted
        self.known |= noted
        self.left = left
        self.sold.append(order)
        return Sale(Outcome.SOLD, left=left, order=order)

    def _hangs_on_the_write(self, sale: Answered) -> bool:
        """Is it a sale of this batch, or a refusal after one?"""
        if isinstance(sale, Unreadable):
            return False
        return sale.order in self.sold if sale.order else bool(self.sold)
