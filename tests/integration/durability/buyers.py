"""Buyers in threads, each purchase under a key of its own until it is answered."""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import Event

from app.bootstrap import Services
from app.domain import NotOnSale, StoreAway
from app.store import rounds


class Crowd:
    """`told` are the ids of the orders that were answered as sold."""

    def __init__(self, services: Services, buyers: int) -> None:
        self.services = services
        self.round = services.rounds.start("apple", "atomic", 1_000_000, {})
        self.shop = services.purchase()
        self.buyers = buyers
        self.told: list[str] = []
        self.stop = Event()

    @contextmanager
    def buying(self) -> Iterator[None]:
        with ThreadPoolExecutor(self.buyers) as pool:
            try:
                buyers = [pool.submit(self._buy) for _ in range(self.buyers)]
                yield
            finally:
                self.stop.set()
            for each in buyers:
                each.result(30)
        self.shop.reporter.stop()

    def _buy(self) -> None:
        key = str(uuid.uuid4())
        while not self.stop.is_set():
            try:
                sale = self.shop.buy("apple", 1, key).sale
            except (StoreAway, NotOnSale):
                time.sleep(0.01)
                continue
            if sale.order:
                self.told.append(sale.order.id)
                key = str(uuid.uuid4())

    def lost(self, there: Services) -> int:
        """Return how many of them the store of `there` does not have. None has been moved to the
        database.
        """
        sales = rounds.account(there.store, self.round).sales
        known = b"".join(sales)
        return sum(id.encode() not in known for id in self.told)
