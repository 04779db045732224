"""Reads before a sale, and records of it, for all modes that sell in the store.

Before a sale, a mode reads the sale that its key has made before; in a round that limits each buyer
it also reads the buyer's counter. That is a key of its own, so that different buyers never wait for
each other. A mode reads both in the step that reads the stock, and records them in the step that
records the sale: so they are as right as the stock is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import redis

from app.domain import Order, Outcome, Round, Sale
from app.store.clients.cluster import Cluster
from app.store.keys import Keys

AT_ONCE = 1_000  # keys that one command reads: all other clients wait for it
Value = bytes | str | None  # of a key, as the store answers it


@dataclass(frozen=True, slots=True)
class Earlier:
    """The state before a sale. `answer` None: the sale may continue.

    Otherwise the key has bought, the round is over, too little is left, or the buyer would have too
    much. `bought` are the units that the buyer has, in a round with a limit.
    """

    answer: Sale | None
    bought: int


class RoundSales:
    def __init__(self, round: Round, keys: Keys) -> None:
        self.most = round.per_buyer
        self.keys = keys

    def counter(self, order: Order) -> list[str]:
        """Name the buyer's counter: one key, or none where there is no limit."""
        return [self.keys.bought(order.buyer)] if self.most else []

    def reads(self, order: Order, *ended: str) -> list[str]:
        """Name the keys to read, the stock first; `ended` is a key that only an ended round has."""
        return [self.keys.stock, self.keys.key(order.key), *ended, *self.counter(order)]

    def read(self, client: redis.Redis, order: Order, *ended: str) -> tuple[int, Earlier]:
        """Read the stock, and what was before this sale: MGET."""
        values: Any = client.mget(self.reads(order, *ended))
        return self.judge(order, values)

    def judge(self, order: Order, values: Sequence[Value]) -> tuple[int, Earlier]:
        """Decode the values of the keys in `reads`. No stock counts as 0."""
        stock, record, *ended = values
        bought = int((self.most and ended.pop()) or 0)
        left, answer = int(stock or 0), None
        if record:
            answer = Sale(Outcome.SOLD, order=Order.decode(record))
        elif stock is None or any(ended):
            answer = Sale(Outcome.ROUND_OVER)
        elif left < order.quantity:
            answer = Sale(Outcome.SOLD_OUT, left=max(0, left))
        elif self.most and bought + order.quantity > self.most:
            answer = Sale(Outcome.LIMIT, left=left, bought=bought)
        return left, Earlier(answer, bought)

    def record(self, client: redis.Redis, order: Order, earlier: Earlier) -> None:
        """Record the sale: XADD to the round's stream, MSET of its copies and of the counter."""
        client.xadd(self.keys.sales, {"sale": order.encode()})
        client.mset(self.copies(order, earlier))

    def copies(self, order: Order, earlier: Earlier) -> dict[str, bytes]:
        """Return what is set next to the stream's entry, by its key."""
        counted = zip(self.counter(order), self.counted(order, earlier), strict=True)
        return self.keys.copies(order) | dict(counted)

    def records(self, order: Order, *ended: str) -> list[str]:
        """Name the keys of a script that records a sale."""
        copies = self.keys.order(order.id), self.keys.key(order.key)
        return [self.keys.sales, *copies, *ended, *self.counter(order)]

    def counted(self, order: Order, earlier: Earlier) -> list[bytes]:
        """Return the buyer's counter after this sale: one number, or none."""
        return [b"%d" % (earlier.bought + order.quantity)] if self.most else []

    @property
    def limit(self) -> list[int]:
        """Return the most units of one buyer, for a script that decides: one number, or none."""
        return [self.most] if self.most else []

    def answer(
        self,
        order: Order,
        outcome: bytes,
        left: int,
        seen: bytes | None = None,
        bought: Sequence[int] = (),
    ) -> Sale:
        """Decode a script's reply."""
        if seen:
            return Sale(Outcome.SOLD, order=Order.decode(seen))
        match Outcome(outcome.decode()):
            case Outcome.SOLD:
                return Sale(Outcome.SOLD, left=left, order=order)
            case Outcome.LIMIT:
                return Sale(Outcome.LIMIT, left=left, bought=bought[0])
            case Outcome.SOLD_OUT:
                return Sale(Outcome.SOLD_OUT, left=max(0, left))
            case refused:
                return Sale(refused)


def forget_counters(store: redis.Redis, names: Keys) -> None:
    """Delete all buyers' counters of a round that sells no more."""
    pattern = names.bought("*")
    node = store.topology.node_of(pattern) if isinstance(store, Cluster) else store
    for counter in node.scan_iter(pattern, count=AT_ONCE):
        store.unlink(counter)
