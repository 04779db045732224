"""A worker whose first buyer is held up in mid-sale, while others come to stand in line."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

from app.domain import Order, Sale
from app.service.answer import Answer
from app.service.purchase import Purchase
from app.store.combining import Combining
from tests.servers import until


def line_of(shop: Purchase) -> Combining:
    shop.running("apple")
    line = shop.selling["apple"].sell.__self__  # type: ignore[attr-defined]
    assert isinstance(line, Combining)
    return line


class Crowd:
    """Who comes is sold to in this order, once the one in front has gone on."""

    def __init__(self, shop: Purchase, pool: ThreadPoolExecutor) -> None:
        self.shop = shop
        self.pool = pool
        self.line = line_of(shop)

    def comes(self, quantity: int = 1, **asked: Any) -> Future[Answer]:
        """Returns when they stand in line."""
        before = len(self.line.line)
        future = self.pool.submit(self.shop.buy, "apple", quantity, **asked)
        until(lambda: len(self.line.line) == before + 1)
        return future


@contextmanager
def behind(shop: Purchase) -> Iterator[Crowd]:
    """The first buyer, who is alone, is held up until the block ends."""
    selling, go_on = threading.Event(), threading.Event()
    line = line_of(shop)
    real = line.sell_one

    def held_up(order: Order) -> Sale:
        line.sell_one = real
        selling.set()
        assert go_on.wait(20)
        return real(order)

    line.sell_one = held_up
    with ThreadPoolExecutor(32) as pool:
        pool.submit(shop.buy, "apple", 1, "first", "First")
        assert selling.wait(10)
        try:
            yield Crowd(shop, pool)
        finally:
            go_on.set()
