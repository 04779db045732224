"""The record of a repair: what a round had lost, and what came back."""

from __future__ import annotations

from dataclasses import dataclass

from app.domain import records
from app.text import Text


@dataclass(frozen=True, slots=True)
class Mended:
    """`orders` are in the books, `brought_back` ids of sales that only a worker still knew.

    `left` is what was written, None where the stock is in the database; `gone`: the store knew no
    such round.
    """

    orders: int
    brought_back: list[str]
    left: int | None
    gone: bool

    @property
    def what(self) -> Text:
        """In a sentence, as it stands large on a screen. What nobody can know, the command says."""
        if self.brought_back:
            return Text(
                "Mended: %(orders)s orders from the books, %(back)s sales that workers still knew.",
                orders=self.orders,
                back=len(self.brought_back),
            )
        return Text("Mended: %(orders)s orders from the books.", orders=self.orders)

    def encode(self) -> bytes:
        return records.encode(self)

    @classmethod
    def decode(cls, record: bytes | str) -> Mended:
        """Raises Unreadable."""
        return records.decode(cls, record)
