"""Items, rounds, orders and the outcomes of a purchase."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import NamedTuple

from app.domain import records
from app.domain.errors import Newer, Unreadable
from app.text import Text


class Outcome(StrEnum):
    """The outcome of one attempt to buy."""

    SOLD = "SOLD"
    HELD = "HELD"  # taken, and to be paid for: modes return SOLD instead
    SOLD_OUT = "SOLD_OUT"  # fewer units left than asked for
    LIMIT = "LIMIT"  # the buyer would have more of the round than one buyer may
    BUSY = "BUSY"  # attempts or patience ran out; nothing was sold
    ERROR = "ERROR"  # the store did not answer
    ROUND_OVER = "ROUND_OVER"  # from a mode to the service; no buyer ever sees it


@dataclass(frozen=True, slots=True)
class Item:
    """An item on the shelf. `price` in cents, `stock` in units at the very first opening."""

    slug: str
    name: Text
    blurb: Text
    price: int
    stock: int


ITEMS = {
    item.slug: item
    for item in (
        Item(
            "apple", Text("Apple"), Text("The last of the harvest, picked this morning."), 60, 100
        ),
        Item("pear", Text("Pear"), Text("Ripe for about a quarter of an hour. Be quick."), 75, 60),
        Item("plum", Text("Plum"), Text("Small, dark and gone before you look twice."), 40, 80),
        Item("cherry", Text("Cherries"), Text("A paper bag of them, stems and all."), 350, 40),
        Item("quince", Text("Quince"), Text("Hard as a stone today, jelly tomorrow."), 120, 24),
        Item("fig", Text("Fig"), Text("One tree, one wall, one warm week a year."), 90, 12),
    )
}


@dataclass(frozen=True, slots=True)
class Order:
    """A wish to buy, with its id made before attempt 1. It becomes durable when it is sold.

    `at` is the buyer's moment in ms since 1970; `price` is a unit's, in cents; `key` is the
    idempotency key, or the id itself when the client sent none; `request` is the id of the request
    that made it, "" of orders from before requests had one.
    """

    id: str
    item: str
    round: int
    quantity: int
    price: int
    buyer: str
    key: str
    at: int
    request: str = ""

    def encode(self) -> bytes:
        """Return the sale as it is in the store's stream and under its keys (JSON)."""
        return records.encode(self)

    @classmethod
    def decode(cls, payload: bytes | str) -> Order:
        """Decode a sale. Raises Unreadable, of which Newer and NotBooked are two."""
        members = records.parse(payload)
        if isinstance(members, dict) and members.pop(DROPPED, False) is True:
            raise NotBooked(records.versioned(cls, members))
        order = records.versioned(cls, members)
        if order.quantity < 1:
            raise Unreadable(Text("Its quantity is less than 1."))
        return order


DROPPED = "dropped"  # the member by which the record of a dropped order differs from a sale's


class NotBooked(Unreadable):
    """An order that could not be booked: a person dropped it (`lastapple deadletter drop`)."""

    def __init__(self, order: Order) -> None:
        super().__init__(Text("This order could not be booked and was cancelled."))
        self.order = order

    def encode(self) -> bytes:
        """Return the record that replaces the sale, under its order's id and under its key."""
        return records.encode({**asdict(self.order), DROPPED: True})


SOLD_BY_NEWER = Text("A newer version of Last Apple started this round: not on sale here. Upgrade.")


@dataclass(frozen=True, slots=True)
class Sale:
    """A mode's answer. `left` in units, None when the mode has not read the stock."""

    outcome: Outcome
    left: int | None = None
    order: Order | None = None  # set when SOLD; an earlier one when its key was seen before
    attempts: int = 1  # the first try is attempt 1
    conflicts: int = 0  # lost races: aborted EXECs, versions that had changed
    lock_lost: bool = False  # at the release, the lock was not the buyer's any more
    bought: int | None = None  # units that the buyer has in the round; set when LIMIT


class WayName(NamedTuple):
    """The name of a way to sell, `mode` or `mode:recipe`, in its two parts."""

    mode: str
    recipe: str  # "": none

    @classmethod
    def parse(cls, name: str) -> WayName:
        mode, _, recipe = name.partition(":")
        return cls(mode, recipe)


@dataclass(frozen=True, slots=True)
class Round:
    """One sale of one item: so much stock, one mode, one set of times. Times are in ms.

    `think` waits between read and write, `lease` is a lock's lifetime, `wait` is the buyer's
    patience, `attempts` caps retries, `limit` is the most units that one order may take, `delay` is
    how long after its start it opens: until then customers gather, and nothing is sold. `hold` is
    how long its buyers have to pay; 0: what they buy is sold at once. With `tickets`
    each buyer gets one order, under a key that the shop has made (service/selling.py).
    `per_buyer` is the most units that one buyer may have of the round; 0: as many as there are.
    `masters` are the identities of redlock's masters, joined by commas (see
    app/store/clients/masters.py); "" in other modes, and in a record of an older version.
    """

    item: str
    number: int
    stock: int
    mode: str  # "watch", "lock:lease"
    think: int = 0
    lease: int = 10_000
    wait: int = 5_000
    attempts: int = 64
    limit: int = 10
    delay: int = 0
    hold: int = 0
    started: int = 0  # ms since 1970
    ended: int | None = None
    tickets: bool = False
    per_buyer: int = 0
    masters: str = ""

    @property
    def running(self) -> bool:
        return self.ended is None

    @property
    def opens(self) -> int:
        """The moment at which it opens, in ms since 1970."""
        return self.started + self.delay

    @property
    def recipe(self) -> str:
        """The lock recipe's name, "" for a mode without one."""
        return WayName.parse(self.mode).recipe

    def encode(self) -> bytes:
        return records.encode(self)

    @classmethod
    def decode(cls, record: bytes | str) -> Round:
        """Decode a record. Raises Unreadable, of which Newer is one."""
        try:
            return records.decode(cls, record)
        except Newer:
            raise Newer(SOLD_BY_NEWER) from None


@dataclass(frozen=True, slots=True)
class Bound:
    low: int
    high: int
    unit: Text


# The bounds of a round. The upper ones keep a typing error from blocking a worker for hours.
ROUND_BOUNDS = {
    "stock": Bound(1, 1_000_000_000, Text("units")),
    "think": Bound(0, 60_000, Text("ms")),
    "lease": Bound(10, 600_000, Text("ms")),
    "wait": Bound(0, 60_000, Text("ms")),
    "attempts": Bound(1, 1_000, Text("attempts")),
    "limit": Bound(1, 10, Text("units")),
    "per_buyer": Bound(0, 1_000, Text("units")),
    "delay": Bound(0, 3_600_000, Text("ms")),
    "hold": Bound(0, 3_600_000, Text("ms")),
}
