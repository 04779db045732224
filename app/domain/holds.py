"""A hold: units that are taken and not paid for, until a deadline by the store's clock."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from app.domain.errors import ShopError
from app.domain.selling import Order
from app.text import Text


class Stands(StrEnum):
    """The state of a hold. Every state after HELD is final, and is reached once."""

    HELD = "HELD"
    PAID = "PAID"  # it is an order now
    DECLINED = "DECLINED"  # the payment was
    CANCELLED = "CANCELLED"  # by the customer
    EXPIRED = "EXPIRED"  # not paid in time


@dataclass(frozen=True, slots=True)
class Hold:
    """A hold. Moments are in ms since 1970 by the store's clock.

    `owed`: it is over, and its units are not in stock again yet.
    """

    order: Order
    stands: Stands
    until: int
    now: int
    owed: bool = False

    @property
    def over(self) -> bool:
        return self.stands not in (Stands.HELD, Stands.PAID)

    @property
    def ms_left(self) -> int:
        """The ms left to pay in; 0 when it is not held."""
        return max(0, self.until - self.now) if self.stands is Stands.HELD else 0


class Due(NamedTuple):
    """A hold that runs out, or whose units come back, in `ms`; less than 0: now."""

    order: Order
    ms: int


OVER = {
    Stands.EXPIRED: Text("This was held for you, and not paid for in time: it is on sale again."),
    Stands.DECLINED: Text("The payment was declined: what was held for you is on sale again."),
    Stands.CANCELLED: Text("You have cancelled this: what was held for you is on sale again."),
}


class HoldOver(ShopError):
    """The hold cannot be paid for any more, and its key buys nothing."""

    def __init__(self, hold: Hold) -> None:
        super().__init__(OVER[hold.stands])
        self.hold = hold


class AlreadyPaid(ShopError):
    """The hold is an order, and cannot be given back."""

    def __init__(self) -> None:
        super().__init__(Text("This is paid for: there is nothing to give back."))
