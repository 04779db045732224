"""The store returns with less than shop, fulfil or ledger have seen: none of it is sold again."""

from __future__ import annotations

import shutil
from pathlib import Path

import redis
import requests

from tests.support.command_line import invoke
from tests.support.data_loss import cut, length
from tests.support.servers import StoreServer, until
from tests.support.shop import NewShop, Shop

HTML = {"Accept": "text/html"}
EMPTIED = "The store has lost every round of apple, of which number {} was the newest"


def sold(shop: Shop, times: int) -> list[str]:
    """Sell so many orders; return their ids."""
    with requests.Session() as session:
        answers = [shop.buy(session) for _ in range(times)]
    assert [answer.status_code for answer in answers] == [201] * times
    return [answer.json()["order"] for answer in answers]


def confirmed(shop: Shop, orders: list[str]) -> bool:
    states = [requests.get(f"{shop.url}/orders/{id}", timeout=5).json() for id in orders]
    return all(state["state"] == "confirmed" for state in states)


def sells_nothing(shop: Shop) -> None:
    with requests.Session() as session:
        told = {shop.buy(session).status_code for _ in range(20)}
    assert told <= {409, 503}
    refused = requests.post(
        f"{shop.lab}/rounds", json={"item": "apple", "stock": 5, "mode": "atomic"}, timeout=10
    )
    assert (refused.status_code, "--accept" in refused.json()["detail"]) == (409, True)
    assert invoke("audit", **shop.environ).exit_code == 4


def sells_on(shop: Shop, number: int) -> None:
    assert "nothing to accept" not in invoke("audit", "--accept", **shop.environ).stdout
    assert "nothing to accept" in invoke("audit", "--accept", **shop.environ).stdout
    assert shop.round("atomic", 5)["round"] == number
    sold(shop, 2)
    audit = shop.audit(number)
    assert (audit["verdict"], audit["orders"], audit["left"]) == ("exact", 2, 3)


def on_the_lab(shop: Shop) -> str:
    return requests.get(shop.lab, headers=HTML, timeout=10).text


def test_a_cut_log_and_a_shop_that_starts_again(new_shop: NewShop, tmp_path: Path) -> None:
    """All orders were moved; no worker that has seen them lives."""
    shop = new_shop(tmp_path)
    store = Path(shop.environ["VAR_DIR"]) / "store"
    shop.round("atomic", 10)
    sold(shop, 3)
    end = length(store)
    orders = sold(shop, 2)
    until(lambda: confirmed(shop, orders))
    shop.stop()
    cut(store, end)
    shop.start()
    said = "The store has lost sales of apple, round 2: it remembers 3, and 5 are booked."
    assert said in shop.said()
    assert said in on_the_lab(shop)
    sells_nothing(shop)
    sells_on(shop, 3)
    assert shop.audit(2)["verdict"] != "exact", "for ever after"
    shop.stop()
    shop.start()
    assert said not in shop.said()


def test_a_cut_log_under_a_shop_that_runs(
    new_shop: NewShop, store: StoreServer, tmp_path: Path
) -> None:
    """No order was moved: the workers that have confirmed them know of the loss."""
    shop = new_shop(tmp_path, REDIS_URL=store.url)
    fulfil = shop.child("fulfil")
    fulfil.suspend()
    number = shop.round("atomic", 10)["round"]
    sold(shop, 3)
    end = length(store.folder)
    orders = sold(shop, 2)
    store.kill()
    cut(store.folder, end)
    store.start()
    said = f"The store has lost a sale of apple, round {number}, of which a customer was told"
    until(lambda: said in on_the_lab(shop), said="nobody notices")
    sells_nothing(shop)
    fulfil.resume()
    audit = shop.audit(number)
    assert (audit["verdict"], audit["orders"]) == ("inconsistent", 3)
    assert said in audit["sentence"]
    assert [requests.get(f"{shop.url}/orders/{id}", timeout=5).status_code for id in orders] == [
        404,
        404,
    ]
    sells_on(shop, number + 1)


def test_an_emptied_store_under_a_shop_that_runs(
    new_shop: NewShop, store: StoreServer, tmp_path: Path
) -> None:
    with redis.Redis.from_url(store.url, socket_timeout=10) as client:
        client.flushall()  # the store belongs to the database of the test before
        shop = new_shop(tmp_path, REDIS_URL=store.url)
        number = shop.round("atomic", 10)["round"]
        sold(shop, 3)
        client.flushall()
    said = EMPTIED.format(number)
    until(lambda: said in on_the_lab(shop), said="nobody notices")
    sells_nothing(shop)
    assert said in invoke("prepare", **shop.environ).stdout
    sells_on(shop, number + 1)


def test_a_deleted_store_and_a_database_that_stays(new_shop: NewShop, tmp_path: Path) -> None:
    shop = new_shop(tmp_path)
    assert shop.said().count("stocked") == 6, "the first opening ever"
    sold(shop, 3)
    shop.stop()
    shutil.rmtree(Path(shop.environ["VAR_DIR"]) / "store")
    shop.start()
    assert "stocked" not in shop.said()
    said = EMPTIED.format(1)
    assert said in shop.said()
    assert said in on_the_lab(shop)
    sells_nothing(shop)
    sells_on(shop, 2)
    shop.stop()
    shop.start()
    assert "stocked" not in shop.said()
    assert said not in shop.said()
    assert EMPTIED.format(1).replace("apple", "pear") in shop.said(), "of these nobody accepted it"
