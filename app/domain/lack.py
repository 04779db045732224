"""A loss of data: what store or database once had of an item; and its repair."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from enum import StrEnum

from app.domain import records
from app.domain.errors import ShopError
from app.text import Text


class Loss(StrEnum):
    EMPTIED = "emptied"  # the store has no round of the item
    OLDER = "older"  # the store's newest round is older than the newest that existed
    SALES = "sales"  # fewer sales of a round than orders
    SALE = "sale"  # a sale that a worker has confirmed to its buyer
    ENDING = "ending"  # the end of a hold that a worker has confirmed to its buyer
    ORDERS = "orders"  # the database: fewer orders of a round than it has confirmed to the store
    STOCK = "stock"  # the database: the stock of a round that sells there


SENTENCES: dict[str, Text] = {
    Loss.EMPTIED: Text(
        "The store has lost every round of %(item)s, of which number %(round)s was the "
        "newest: it was emptied."
    ),
    Loss.OLDER: Text(
        "The store has lost its newest rounds of %(item)s: its last is number "
        "%(since)s, but there was a number %(round)s."
    ),
    Loss.SALES: Text(
        "The store has lost sales of %(item)s, round %(round)s: it remembers "
        "%(sales)s, and %(orders)s are booked."
    ),
    Loss.SALE: Text(
        "The store has lost a sale of %(item)s, round %(round)s, of which a customer was told: "
        "order %(order)s."
    ),
    Loss.ENDING: Text(
        "The store has lost the end of a hold of %(item)s, round %(round)s, of which a "
        "customer was told: order %(order)s."
    ),
    Loss.ORDERS: Text(
        "The database has lost orders of %(item)s, round %(round)s: it confirmed "
        "%(sales)s to the store, and has %(orders)s."
    ),
    Loss.STOCK: Text(
        "The database has lost the stock of %(item)s, round %(round)s, which sells there."
    ),
}


@dataclass(frozen=True, slots=True)
class Lack:
    """One loss. `round` is the newest that is known to have existed, or the one that lacks sales.

    `since` is the oldest round that can have lost something, 0 when the store has none at all.
    `orders` (in the books) and `sales` (ever written to the store) belong to Loss.SALES, `order`
    (an id) to Loss.SALE and Loss.ENDING. With Loss.ORDERS, `sales` are those that the store let go
    of as orders.
    """

    item: str
    loss: str
    round: int
    since: int
    orders: int = 0
    sales: int = 0
    order: str = ""

    @property
    def what(self) -> Text:
        """Return one sentence about the loss."""
        values = asdict(self) | {"round": str(self.round), "since": str(self.since)}
        return Text(SENTENCES.get(self.loss, SENTENCES[Loss.SALE]), **values)

    @property
    def sentence(self) -> Text:
        """One sentence about the loss, and its consequence."""
        return Text(
            "%(what)s Nothing of %(item)s is sold until that is mended "
            "(lastapple audit %(item)s --repair) or accepted (lastapple audit %(item)s --accept).",
            what=self.what,
            item=self.item,
        )

    def encode(self) -> bytes:
        return records.encode(self)

    @classmethod
    def decode(cls, record: bytes | str) -> Lack:
        """Decode a record. Raises Unreadable."""
        return records.decode(cls, record)


@dataclass(frozen=True, slots=True)
class Mended:
    """A repair. `orders` are in the books, `brought_back` ids of sales that only a worker knew.

    `left` is the stock that was written, None where it is in the database; `gone`: the store knew
    no such round.
    """

    orders: int
    brought_back: list[str]
    left: int | None
    gone: bool

    @property
    def what(self) -> Text:
        """One sentence, shown large on a screen. The command also says what nothing can show."""
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
        """Decode a record. Raises Unreadable."""
        return records.decode(cls, record)


class Lacking(ShopError):
    """Store or database lacks something of the item, and the loss is not accepted yet."""

    def __init__(self, lack: Lack) -> None:
        super().__init__(lack.sentence)
        self.lack = lack
