"""SIGKILL in mid-run, on a busy disk: no acknowledged sale is lost, and none is made twice.

`make test` runs each a few times, `make soak` twenty times and prints a line for each run.
"""

from __future__ import annotations

import threading
import time
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest
import requests

from tests.support.servers import (
    PostgresServer,
    StoreServer,
    disk_pressure,
    on_disk,
    redis_server,
    until,
)
from tests.support.shop import NewShop, Shop

pytestmark = [pytest.mark.soak, pytest.mark.timeout(3600)]

CLIENTS = 16
MODES = ["atomic", "watch", "lock:lease"]  # in turn, each test from one of its own on


class Buyers:
    """Clients that buy all the time, each purchase under a key of its own until it is answered.

    `acknowledged` maps each answered order's id to its key.
    """

    def __init__(self, shop: Shop) -> None:
        self.shop = shop
        self.acknowledged: dict[str, str] = {}
        self.unanswered = 0
        self.stop = threading.Event()

    @contextmanager
    def buying(self) -> Iterator[None]:
        with ThreadPoolExecutor(CLIENTS) as pool:
            buyers = [pool.submit(self._buy) for _ in range(CLIENTS)]
            try:
                yield
            finally:
                self.stop.set()
            for buyer in buyers:
                buyer.result(60)

    def _buy(self) -> None:
        with requests.Session() as session:
            key = str(uuid.uuid4())
            while not self.stop.is_set():
                try:
                    answer = self.shop.buy(session, key)
                # The second: cut off between the head and the body of the answer.
                except (requests.ConnectionError, requests.exceptions.ChunkedEncodingError):
                    self.unanswered += 1
                    time.sleep(0.1)
                    continue
                if answer.status_code == 201:
                    self.acknowledged[answer.json()["order"]] = key
                    key = str(uuid.uuid4())
                else:
                    assert answer.status_code == 503, answer.text
                    self.unanswered += 1
                    time.sleep(0.05)


def survive(
    shop: Shop, kill: Callable[[], None], runs: int, disk: Path, what: str, first: str = "atomic"
) -> None:
    """Buy, kill, buy on; then compare the acknowledged sales with the ledger."""
    for run in range(1, runs + 1):
        if run % 4 == 0:  # `up` rightly waits longer after every death
            shop.stop()
            shop.start()
        mode = MODES[(MODES.index(first) + run - 1) % len(MODES)]
        number = shop.round(mode, 1_000_000)["round"]
        buyers = Buyers(shop)
        with disk_pressure(disk), buyers.buying():
            until(lambda: len(buyers.acknowledged) > 50, 30)
            kill()
            before = len(buyers.acknowledged)
            until(lambda: len(buyers.acknowledged) > before + 50, 60, "no sale after the kill")
        audit = shop.audit(number, seconds=60)
        ids = set(buyers.acknowledged)
        with requests.Session() as session:
            lost = [id for id in ids if not confirmed(session, shop, id)]
        print(
            f"kill {what}, run {run}: {mode}, {len(ids)} acknowledged, {len(lost)} lost, "
            f"{audit['sold']} sold, {audit['duplicate_ids'] + audit['duplicate_keys']} twice, "
            f"{buyers.unanswered} tries unanswered, {audit['verdict']}",
            flush=True,
        )
        assert not lost
        assert len(set(buyers.acknowledged.values())) == len(ids), "one key, two orders"
        assert audit["duplicate_ids"] == audit["duplicate_keys"] == 0
        assert audit["verdict"] == "exact"
        assert audit["orders"] == audit["sold"] >= len(ids)


def confirmed(session: requests.Session, shop: Shop, id: str) -> bool:
    answer = session.get(f"{shop.url}/orders/{id}", timeout=10)
    return answer.status_code == 200 and answer.json()["state"] == "confirmed"


@pytest.fixture(scope="module")
def shop() -> Iterator[Shop]:
    """A shop on the disk."""
    with on_disk() as folder, Shop(folder) as shop:
        yield shop


def test_kill_fulfil(shop: Shop, runs: int, disk: Path) -> None:
    survive(shop, lambda: shop.child("fulfil").kill(), runs, disk, "fulfil")


def test_kill_store(shop: Shop, runs: int, disk: Path) -> None:
    survive(shop, lambda: shop.child("store").kill(), runs, disk, "store", "watch")


def test_kill_everything(shop: Shop, runs: int, disk: Path) -> None:
    def everything() -> None:
        shop.kill_everything()
        shop.start()

    survive(shop, everything, runs, disk, "everything", "lock:lease")


def test_kill_with_redis_and_postgresql(
    disk: Path, new_shop: NewShop, postgres: PostgresServer, runs: int
) -> None:
    """The same with the user's own servers: fulfil and the store are killed in turn."""
    store = StoreServer(disk / "redis", redis_server())
    shop = new_shop(disk / "shop", REDIS_URL=store.url, DATABASE_URL=postgres.database())

    def restart_store() -> None:
        store.kill()
        store.start()

    survive(shop, lambda: shop.child("fulfil").kill(), runs, disk, "fulfil (PostgreSQL)")
    survive(shop, restart_store, runs, disk, "store (Redis)", "watch")
    store.stop()
