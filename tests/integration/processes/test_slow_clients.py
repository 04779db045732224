"""Two thousand clients that hold shop or lab up, and honest ones at the same time."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import psutil
import pytest
import requests

from tests.support.servers import until
from tests.support.shop import Shop

pytestmark = pytest.mark.timed

SECONDS = 4  # twice: longer than a slow client is silent between two bytes
HONEST, THINKERS = 4, 24
PAGE = "/static/design.css"  # 9 kB: an unread or unclosed answer must cost the shop little
LIMIT = 10.0  # s until an honest client is served; a tenth of a second is usual


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    with Shop(tmp_path_factory.mktemp("shop")) as shop:
        yield shop


@contextmanager
def bad_clients(shop: Shop, url: str, count: int, path: str, *kinds: str) -> Iterator[None]:
    """Run as many of them until the block ends; then no connection of theirs is left."""
    port = url.rpartition(":")[2]
    command = [sys.executable, "-m", "tests.support.slow_clients", port, str(count), path, *kinds]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, text=True, stdin=pipe, stdout=pipe) as clients:
        try:
            assert clients.stdout
            assert clients.stdout.readline() == "there\n"
            yield
            assert connections(shop, url) > count * 0.3, "some are out, and about to come again"
        finally:
            clients.communicate()
    until(lambda: connections(shop, url) == 0, 10, "connections are left")


def connections(shop: Shop, url: str) -> int:
    """Return the number of connections that the server at `url` holds."""
    server = shop.child("shop" if url == shop.url else "lab")
    port = int(url.rpartition(":")[2])
    return sum(
        each.laddr.port == port and each.status != psutil.CONN_LISTEN
        for worker in server.children()
        for each in worker.net_connections("tcp4")
    )


def slowest(shop: Shop, over: float, keep: bool) -> tuple[float, int]:
    """Return (s, purchases) of an honest buyer, over one connection or a new one each time."""
    slowest, sold = 0.0, 0
    session = requests.Session()
    while (start := time.monotonic()) < over:
        assert shop.buy(session).status_code == 201
        slowest = max(slowest, time.monotonic() - start)
        sold += 1
        if not keep:
            session.close()
            session = requests.Session()
        time.sleep(0.02)
    session.close()
    return slowest, sold


def test_honest_buyers_are_served_beside_two_thousand_bad_clients(shop: Shop) -> None:
    """Also when many threads think, or wait for a lock, for buyers of another item."""
    number = shop.round("atomic", 100_000)["round"]
    shop.round("lock:lease", 100_000, "fig", think_ms=500, wait_ms=2_000)
    sold = 0
    with bad_clients(shop, shop.url, 2_000, PAGE), ThreadPoolExecutor(HONEST + THINKERS) as pool:
        for thinkers in (0, THINKERS):
            over = time.monotonic() + SECONDS
            thinking = [pool.submit(think, shop, over) for _ in range(thinkers)]
            buyers = [pool.submit(slowest, shop, over, buyer % 2 == 0) for buyer in range(HONEST)]
            told = [buyer.result(60) for buyer in buyers]
            assert max(seconds for seconds, _ in told) < LIMIT, told
            sold += sum(count for _, count in told)
            for thinker in thinking:
                thinker.result(30)
    audit = shop.audit(number)
    assert audit["verdict"] == "exact"
    assert audit["sold"] == sold


def think(shop: Shop, over: float) -> None:
    with requests.Session() as session:
        while time.monotonic() < over:
            shop.buy(session, item="fig")


def test_the_lab_answers_beside_fifteen_hundred(shop: Shop) -> None:
    with bad_clients(shop, shop.lab, 1_500, "/healthz", "silent", "trickle"):
        over = time.monotonic() + SECONDS
        while (start := time.monotonic()) < over:
            assert requests.get(f"{shop.lab}/healthz", timeout=5).ok
            assert time.monotonic() - start < LIMIT
            time.sleep(0.1)
