"""The end of a class's sale, for the phones: which apples exist, and which do not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypedDict


class ForOne(TypedDict):
    """The end of a sale, for a phone that has bought; counts are of units."""

    round: int
    # The phone's order exists, as all do; exists, but others do not; is missing with others; is the
    # only one that is missing.
    said: Literal["sold", "real", "missing", "the-missing"]
    stock: int
    sold: int
    missing: int


@dataclass(frozen=True)
class Ending:
    """The end of a sale: `sold` is the audit's figure.

    Each of `buyers`, in this order, has bought one. The first buyers get the units that there were.
    The shop could as well choose others: it has promised the same to all of them.
    """

    round: int
    stock: int
    sold: int
    buyers: list[str]

    def of(self, buyer: str) -> ForOne | None:
        """Return the end for this phone; None when it has bought nothing."""
        if buyer not in self.buyers:
            return None
        missing = max(0, self.sold - self.stock)
        outcome: Literal["sold", "real", "missing", "the-missing"] = "sold"
        if missing and self.buyers.index(buyer) < self.stock:
            outcome = "real"
        elif missing:
            outcome = "missing" if missing > 1 else "the-missing"
        return ForOne(
            round=self.round, said=outcome, stock=self.stock, sold=self.sold, missing=missing
        )
