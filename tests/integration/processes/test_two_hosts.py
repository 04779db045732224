"""Two hosts of one shop, each with an `up` of its own, over one store and one database."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import requests

from tests.support.servers import StoreServer
from tests.support.shop import Shop

NewShop = Callable[..., Shop]
BUYERS, STOCK = 8, 60


@pytest.fixture
def hosts(store: StoreServer, new_shop: NewShop, tmp_path: Path) -> list[Shop]:
    with store.client() as client:
        client.flushall()
    shared = {
        "REDIS_URL": store.url,
        "DATABASE_URL": f"sqlite:///{tmp_path / 'orders.db'}",
        "SECRET_KEY": "a secret that both hosts share",
        "SHOP_WORKERS": "1",
    }
    hosts = [new_shop(tmp_path / name, **shared) for name in ("here", "there")]
    for host in hosts:
        host.start()
    return hosts


def buy_at(host: Shop, times: int) -> list[int]:
    with requests.Session() as session:
        return [host.buy(session).status_code for _ in range(times)]


def test_redlock_sells_no_unit_twice(hosts: list[Shop]) -> None:
    """Each host has three masters of its own: only one host's are those of the round."""
    here, there = hosts
    number = here.round("lock:redlock", STOCK)["round"]
    with ThreadPoolExecutor(2 * BUYERS) as pool:
        sold = [pool.submit(buy_at, host, 10) for _ in range(BUYERS) for host in hosts]
        answers = [status for each in sold for status in each.result(120)]
    audit = here.audit(number)
    assert (audit["verdict"], audit["oversold"]) == ("exact", 0)
    assert answers.count(201) == audit["sold"] > 0
    assert buy_at(there, 1) == [503]
    states = {host: requests.get(f"{host.url}/readyz", timeout=5).status_code for host in hosts}
    assert states == {here: 200, there: 503}
    number = there.round("lock:redlock", STOCK)["round"]
    assert buy_at(there, 1) == [201], "the host that starts the round sells in it"
