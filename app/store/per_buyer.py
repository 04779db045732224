"""The limit of a round for each buyer, for the modes that sell from the store.

A counter for each buyer and round, a key of its own, so that different buyers are in nobody's way.
A mode reads it with the stock and writes it with the sale, in the very steps that it has for these:
so it is as right as the stock is. In a round without a limit there is nothing to read or write.
"""

from __future__ import annotations

from collections.abc import Sequence

import redis

from app.domain import Order, Outcome, Round, Sale
from app.store.cluster import Cluster
from app.store.keys import Keys

AT_ONCE = 1_000  # keys that one command looks at: it holds up everybody else
Counted = Sequence[bytes | str | None]  # what a buyer's counter says: one value, or none


class PerBuyer:
    def __init__(self, round: Round) -> None:
        self.most = round.per_buyer
        self.keys = Keys(round.item, round.number)

    def counter(self, order: Order) -> list[str]:
        """The name of the buyer's counter: one, or none where there is no limit."""
        return [self.keys.bought(order.buyer)] if self.most else []

    @property
    def limit(self) -> list[int]:
        """For a script that decides by itself: one number, or none."""
        return [self.most] if self.most else []

    def refusal(self, order: Order, bought: Counted, left: int) -> Sale | None:
        """LIMIT, if this order goes beyond it."""
        if not self.most or _units(bought) + order.quantity <= self.most:
            return None
        return Sale(Outcome.LIMIT, left=left, bought=_units(bought))

    def counted(self, order: Order, bought: Counted) -> dict[str, bytes]:
        """What the counter says after this sale, by its name."""
        units = b"%d" % (_units(bought) + order.quantity)
        return dict.fromkeys(self.counter(order), units)


def forget(store: redis.Redis, names: Keys) -> None:
    """Delete all buyers' counters of a round in which nobody can buy any more."""
    pattern = names.bought("*")
    node = store.topology.node_of(pattern) if isinstance(store, Cluster) else store
    for counter in node.scan_iter(pattern, count=AT_ONCE):
        store.unlink(counter)


def _units(bought: Counted) -> int:
    return sum(int(units or 0) for units in bought)
