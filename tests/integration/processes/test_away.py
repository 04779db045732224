"""The store goes away and comes back; the database goes away and comes back."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import requests

from loadtest.lab import Lab
from tests.support.servers import PostgresServer, StoreServer, until
from tests.support.shop import NewShop


def test_store_away(new_shop: NewShop, own_store: StoreServer, tmp_path: Path) -> None:
    """Killed and frozen: 503 with Retry-After while it is away, and back by itself.

    test_client.py counts for how many timeouts a purchase waits.
    """
    shop = new_shop(tmp_path / "shop", REDIS_URL=own_store.url, STORE_TIMEOUT="400")
    number = shop.round("watch", 100)["round"]
    with requests.Session() as session:
        assert shop.buy(session).status_code == 201
        for go, come_back in (
            (own_store.kill, own_store.start),
            (own_store.freeze, own_store.thaw),
        ):
            go()
            for _ in range(3):
                answer = shop.buy(session)
                assert answer.status_code == 503
                assert answer.headers["Retry-After"] == "1"
                assert answer.headers["Content-Type"] == "application/problem+json"
                said = (shop.folder / "var" / "log" / "shop.log").read_text()
                assert f"ERROR {answer.json()['request']} The store is away" in said
            come_back()
            until(lambda: shop.buy(session).status_code == 201)
    assert shop.audit(number)["verdict"] == "exact"


def test_an_audit_waits_for_a_store_that_hangs(
    new_shop: NewShop, own_store: StoreServer, tmp_path: Path
) -> None:
    """A comparison of many minutes must not end because the store was slow under its load."""
    shop = new_shop(tmp_path / "shop", REDIS_URL=own_store.url, STORE_TIMEOUT="400")
    number = shop.round("watch", 100)["round"]
    assert shop.buy(requests.Session()).status_code == 201
    own_store.freeze()
    with ThreadPoolExecutor(1) as pool:
        asked = pool.submit(Lab(shop.lab).audit, "apple", number)
        for _ in range(2):  # by then the other one has got the same answer
            answer = requests.get(f"{shop.lab}/rounds/apple/{number}/audit", timeout=10)
            assert answer.status_code == 503
        assert not asked.done()
        own_store.thaw()
        assert asked.result(40)["verdict"] == "exact"


def test_database_away(new_shop: NewShop, tmp_path: Path, own_postgres: PostgresServer) -> None:
    """Sales go on, order pages, too; fulfil catches up when the database is back.

    Only the modes that sell in the database itself are away meanwhile.
    """
    shop = new_shop(tmp_path / "shop", DATABASE_URL=own_postgres.database())
    number = shop.round("atomic", 100)["round"]
    there = shop.round("sql", 100, item="pear")["round"]
    own_postgres.stop()
    with requests.Session() as session:
        sold = [shop.buy(session) for _ in range(20)]
        refused = shop.buy(session, item="pear")
    assert (refused.status_code, refused.headers["Retry-After"]) == (503, "1")
    assert refused.json()["title"] == "The database is away"
    assert [answer.status_code for answer in sold] == [201] * 20
    order = f"{shop.url}/orders/{sold[0].json()['order']}"
    assert requests.get(order, timeout=10).json()["state"] == "recorded"
    away = requests.get(f"{shop.lab}/rounds/apple/{number}/audit", timeout=10)
    assert (away.status_code, away.json()["title"]) == (503, "The database is away")
    mine = requests.get(f"{shop.url}/orders", timeout=10).json()
    assert mine == {"orders": [], "partial": False}
    own_postgres.server.start()
    audit = shop.audit(number)
    assert (audit["verdict"], audit["orders"]) == ("exact", 20)
    assert requests.get(order, timeout=10).json()["state"] == "confirmed"
    with requests.Session() as session:
        assert shop.buy(session, item="pear").status_code == 201
    audit = shop.audit(there, item="pear")
    assert (audit["verdict"], audit["sold"], audit["left"]) == ("exact", 1, 99)
