"""The running shop under 32 clients: exact audits, and what happens when a part goes away."""

from __future__ import annotations

import socket
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import pytest
import requests

from tests.support.servers import StoreServer, redis_server, until
from tests.support.shop import Shop

CLIENTS = 32
STOCK = 120  # a few for each


@pytest.fixture(scope="module", params=["embedded", "servers"])
def shop(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Shop]:
    """The shop with its embedded servers; and with Redis and PostgreSQL of one's own."""
    folder, environ = tmp_path_factory.mktemp("shop"), dict[str, str]()
    with ExitStack() as stack:
        if request.param == "servers":
            store = stack.enter_context(StoreServer(folder / "redis", redis_server()))
            database: str = request.getfixturevalue("postgres").database()
            environ = {"REDIS_URL": store.url, "DATABASE_URL": database}
        yield stack.enter_context(Shop(folder, **environ))


def stampede(shop: Shop) -> Counter[str]:
    """Let each buyer buy until nothing is left; return the outcomes' counts."""

    def buyer(_: int) -> Counter[str]:
        told: Counter[str] = Counter()
        with requests.Session() as session:
            while not told["SOLD_OUT"]:
                answer = shop.buy(session)
                told[answer.json().get("outcome", str(answer.status_code))] += 1
        return told

    with ThreadPoolExecutor(CLIENTS) as pool:
        return sum(pool.map(buyer, range(CLIENTS)), Counter[str]())


@pytest.mark.parametrize("mode", ["watch", "lock:lease", "sql", "sql_lock", "atomic"])
def test_a_stampede_sells_the_stock_exactly(shop: Shop, mode: str) -> None:
    number = shop.round(mode, STOCK)["round"]
    told = stampede(shop)
    audit = shop.audit(number)
    assert audit["verdict"] == "exact"
    assert (audit["sold"], audit["orders"], audit["left"]) == (STOCK, STOCK, 0)
    assert told["SOLD"] == STOCK
    assert set(told) <= {"SOLD", "SOLD_OUT", "BUSY"}
    until(lambda: shop.audit(number)["answers"]["SOLD"] == STOCK)


def test_naive_oversells_in_a_stampede(shop: Shop) -> None:
    number = shop.round("naive", STOCK, think_ms=5)["round"]
    told = stampede(shop)
    audit = shop.audit(number)
    assert audit["verdict"] == "oversold"
    assert audit["sold"] == told["SOLD"] > STOCK
    assert "will be disappointed" in audit["sentence"]


def test_the_lab_answers_while_every_thread_waits_for_a_lock(shop: Shop) -> None:
    """It answers at once. The buyers wait for a minute, or until a new round begins."""
    shop.round("lock:lease", 1_000, think_ms=5_000, wait_ms=60_000)
    assert requests.get(f"{shop.lab}/", timeout=5).ok, "the instructor has it before his eyes"
    threads = 2 * int(shop.environ["SHOP_THREADS"])
    # Twice as many buyers: connections spread unevenly, and every thread of each worker must wait.
    buyers = 2 * threads

    def wait_for_lock(_: int) -> None:
        with requests.Session() as session:
            shop.buy(session)

    with ThreadPoolExecutor(buyers) as pool:
        waiting = [pool.submit(wait_for_lock, number) for number in range(buyers)]
        until(lambda: in_flight(shop) >= threads * 0.9)
        assert requests.get(f"{shop.lab}/", timeout=5).ok
        assert requests.get(f"{shop.lab}/rounds/apple/{newest(shop)}/audit", timeout=5).ok
        assert sum(each.done() for each in waiting) < threads * 0.1, "one in 5 s has the lock"
        number = shop.round("atomic", 5)["round"]
        start = time.monotonic()
        for each in waiting:
            each.result(60)
        assert time.monotonic() - start < 50, "nobody waits in a round that has ended"
        assert requests.post(f"{shop.lab}/rounds/apple/end", json={}, timeout=5).ok
    assert shop.audit(number)["verdict"] == "exact"


@pytest.mark.timed
def test_slow_clients_do_not_freeze_the_shop(shop: Shop) -> None:
    """A slow client for each thread sends half a request and waits; others are still served."""
    number = shop.round("atomic", 10)["round"]
    host, port = "127.0.0.1", int(shop.environ["SHOP_PORT"])
    half = b"POST /buy/apple HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
    slow = [socket.create_connection((host, port)) for _ in range(100)]
    for connection in slow:
        connection.sendall(half + b"Content-Length: 15\r\n\r\n{")
    with requests.Session() as session:
        assert shop.buy(session).status_code == 201
    for connection in slow:
        connection.close()
    assert shop.audit(number)["sold"] == 1


def newest(shop: Shop) -> int:
    return int(requests.get(f"{shop.lab}/rounds/apple", timeout=5).json()["round"])


def in_flight(shop: Shop) -> int:
    audit = requests.get(f"{shop.lab}/rounds/apple/{newest(shop)}/audit", timeout=5).json()
    return int(audit["in_flight"])


def test_a_mode_switch_under_load(shop: Shop) -> None:
    """Rounds are switched under 32 clients; no audit mixes two of them."""
    rounds = [shop.round("watch", 100_000)["round"]]
    stop = threading.Event()

    def buyer(_: int) -> Counter[tuple[int, str]]:
        told: Counter[tuple[int, str]] = Counter()
        with requests.Session() as session:
            while not stop.is_set():
                answer = shop.buy(session).json()
                told[answer["round"], answer["outcome"]] += 1
        return told

    with ThreadPoolExecutor(CLIENTS) as pool:
        buyers = [pool.submit(buyer, number) for number in range(CLIENTS)]
        for mode in ("lock:lease", "atomic", "watch"):
            time.sleep(0.5)  # some sales in each
            rounds.append(shop.round(mode, 100_000)["round"])
        time.sleep(0.5)
        stop.set()
        told = sum((each.result(30) for each in buyers), Counter[tuple[int, str]]())
    for number in rounds:
        audit = shop.audit(number)
        assert audit["verdict"] == "exact"
        assert audit["sold"] == told[number, "SOLD"] > 0
