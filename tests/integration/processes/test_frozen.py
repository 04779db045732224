"""A worker that is frozen in mid-purchase while its round ends, and its key buys again."""

from __future__ import annotations

import time
from collections.abc import Iterator
from http.client import HTTPConnection
from pathlib import Path

import orjson
import psutil
import pytest
import requests

from tests.support.servers import until
from tests.support.shop import Shop

ASLEEP = 6  # s; after 5 the others take it for dead
HEADERS = {"Idempotency-Key": "k", "Content-Type": "application/json"}


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Shop]:
    with Shop(tmp_path) as shop:
        yield shop


@pytest.mark.parametrize("mode", ["lock:lease", "decr"])
def test_it_wakes_up_and_sells_nothing(shop: Shop, mode: str) -> None:
    old = shop.round(mode, 10, think_ms=5_000, lease_ms=60_000)["round"]
    client = HTTPConnection("127.0.0.1", int(shop.environ["SHOP_PORT"]), timeout=30)
    client.request("POST", "/buy/apple", b'{"quantity": 1}', HEADERS)
    until(lambda: _in_flight(shop, old) == 1)
    frozen = _who_serves(shop, client)
    frozen.suspend()
    try:
        new = shop.round("atomic", 10)["round"]
        time.sleep(ASLEEP)
        bought: list[str] = []
        until(lambda: _press(shop, bought), 20)
        assert shop.audit(old)["verdict"] == "exact", "its worker counts as dead"
    finally:
        frozen.resume()
    assert [orjson.loads(client.getresponse().read())["order"]] == bought
    client.close()
    audits = [shop.audit(number) for number in (old, new)]
    assert [(each["verdict"], each["orders"]) for each in audits] == [("exact", 0), ("exact", 1)]


def _in_flight(shop: Shop, number: int) -> int:
    answer = requests.get(f"{shop.lab}/rounds/apple/{number}/audit", timeout=10)
    return int(answer.json()["in_flight"])


def _who_serves(shop: Shop, client: HTTPConnection) -> psutil.Process:
    port = client.sock.getsockname()[1]
    [worker] = [
        worker
        for worker in shop.child("shop").children()
        if any(each.raddr and each.raddr.port == port for each in worker.net_connections("tcp"))
    ]
    return worker


def _press(shop: Shop, bought: list[str]) -> bool:
    """Press over a new connection: the frozen worker may get it, and then the press waits."""
    try:
        answer = requests.post(f"{shop.url}/buy/apple", b"{}", headers=HEADERS, timeout=1)
    except requests.Timeout:
        return False
    bought.append(answer.json()["order"])
    return True
