"""Every key name in one place.

All keys of an item share its hash tag, so that on a cluster they live in one slot and one MULTI
or script can touch them together. Keys of a round carry its number, so that a worker that missed
the switch can never touch the next round.
"""

from __future__ import annotations

from app.domain import Order


class Keys:
    """Names of the keys of one round of one item."""

    def __init__(self, item: str, number: int) -> None:
        self.item = item
        self.number = number
        prefix = f"{{{item}}}:{number}"
        self.stock = f"{prefix}:stock"  # string: units left
        self.ended = f"{prefix}:stock:ended"  # what `stock` is renamed to when the round ends
        self.sales = f"{prefix}:sales"  # stream: one entry a sale, until it is in the database
        self.lock = f"{prefix}:lock"  # string: the lock's owner token
        self.fence = f"{prefix}:stock:fence"  # string: the highest fencing token shown
        self.record = f"{prefix}:round"  # string: the Round, as JSON
        self.workers = f"{prefix}:workers"  # hash: worker -> what it is doing, as JSON

    def order(self, id: str) -> str:
        """String: a sale by its id, until it is in the database."""
        return order(self.item, id)

    def key(self, key: str) -> str:
        """String: the sale made under an idempotency key; a day longer than the order's."""
        return f"{{{self.item}}}:key:{key}"

    def claim(self, key: str) -> str:
        """String: a lock on an idempotency key, for a mode whose sale is more than one step."""
        return f"{{{self.item}}}:claim:{key}"

    def receipts(self, order: Order) -> dict[str, bytes]:
        """What a mode sets beside the stream's entry: the sale by its id and by its key."""
        sale = order.encode()
        return {self.order(order.id): sale, self.key(order.key): sale}


def order(item: str, id: str) -> str:
    return f"{{{item}}}:order:{id}"


def newest(item: str) -> str:
    """String: number of the item's newest round."""
    return f"{{{item}}}:round"


def streams(item: str) -> str:
    """Set: numbers of the rounds whose stream may still receive sales."""
    return f"{{{item}}}:streams"
