"""Shop and lab in states worth showing, for the test of the pages' look and for pictures."""

from __future__ import annotations

import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import redis
import requests
from playwright.sync_api import Page, expect

from tests.support.phones import buy_together, crowd
from tests.support.shop import Shop

AREA = re.compile("M.*Z")  # the chart's red part, once it is drawn
SLOW = 30_000  # ms for a stampede to end and its audit to settle, on a busy machine


def shelf(shop: Shop) -> None:
    """Fill the shelf with every state: few, sold out, plenty, not open yet, and not on sale."""
    shop.round("atomic", 3)
    shop.round("atomic", 4, "pear")
    shop.buy(requests.Session(), quantity=4, item="pear")
    shop.round("atomic", 120, "plum")
    shop.round("atomic", 40, "cherry", delay_ms=600_000)


def oversold_by_hand(shop: Shop, people: int = 14) -> str:
    """Oversell to a class of people who press at once; return the round's path in the lab."""
    number = shop.round("naive", 10, "quince", think_ms=700)["round"]
    with ThreadPoolExecutor(people) as hands:
        for _ in range(people):
            hands.submit(shop.buy, requests.Session(), item="quince")
    return f"/rounds/quince/{number}"


def stampede(shop: Shop, **changes: Any) -> str:
    """Start a stampede; return its path in the lab."""
    asked = {"item": "apple", "stock": 100, "mode": "naive", "think_ms": 20}
    asked |= {"buyers": 32, "seconds": 20} | changes
    answer = requests.post(f"{shop.lab}/runs", json=asked, timeout=10)
    assert answer.status_code == 201, answer.text
    return f"/runs/{answer.json()['id']}"


def comparison(shop: Shop, **changes: Any) -> str:
    """Start a comparison; return its path in the lab."""
    asked = {"item": "apple", "stock": 50, "think_ms": 20, "buyers": 16, "seconds": 10}
    asked |= {"reference": "naive", "modes": ["watch", "lock:lease", "atomic"], "repeats": 2}
    answer = requests.post(f"{shop.lab}/comparisons", json=asked | changes, timeout=10)
    assert answer.status_code == 201, answer.text
    return f"/comparisons/{answer.json()['id']}"


def ended(shop: Shop, path: str) -> str:
    """Wait for the end of the run or comparison; return its path. No page draws it meanwhile."""
    assert requests.get(f"{shop.lab}{path}/events", timeout=4 * SLOW / 1000).ok
    return path


def compared(page: Page) -> None:
    """Wait on a comparison's page until it is finished."""
    expect(page.locator(".state")).to_contain_text("Finished", timeout=4 * SLOW)


def class_oversold(shop: Shop, people: int = 24) -> None:
    """Sell ten apples to so many phones, and close the sale."""
    wanted = {"mode": "naive", "stock": 10, "think_ms": 400, "delay_ms": 3_000}
    with crowd(shop.url, people) as phones:
        answer = requests.post(f"{shop.lab}/classroom/sale", json=wanted, timeout=10)
        assert answer.status_code == 201, answer.text
        number = answer.json()["round"]
        buy_together(phones, number)
        requests.post(f"{shop.lab}/classroom/close/{number}", json={}, timeout=10)


def refused_once(page: Page) -> None:
    """Refuse the page's next stream, as while the store is away."""
    page.route("**/events", lambda route: route.fulfill(status=503), times=1)


def seen_to_its_end(page: Page) -> None:
    """Wait on a run's page for its end."""
    expect(page.locator("#verdict")).not_to_have_attribute("data-verdict", "settling", timeout=SLOW)


def press(page: Page, shop: Shop, item: str, quantity: int = 1) -> None:
    """Buy as a browser without scripts does: the answer is a page."""
    page.goto(shop.url)
    send(page, item, quantity)


def send(page: Page, item: str, quantity: int = 1) -> None:
    form = page.locator(f"[data-slug={item}] form")
    with page.expect_navigation():
        form.evaluate(
            "(form, quantity) => { form.quantity.value = quantity; form.submit(); }", quantity
        )


def order(page: Page, shop: Shop) -> None:
    press(page, shop, "plum", 2)
    expect(page.locator(".steps")).to_be_visible()


def orders(page: Page, shop: Shop) -> None:
    order(page, shop)
    page.goto(f"{shop.url}/orders")


def as_it_was(page: Page, shop: Shop) -> None:
    """Open the shelf without updates, so that it does not show later sales."""
    page.goto(shop.url)
    page.route(f"{shop.url}/items", lambda route: route.abort())


def sold_out(page: Page, shop: Shop) -> None:
    shop.round("atomic", 1, "fig")
    as_it_was(page, shop)
    shop.buy(requests.Session(), item="fig")
    send(page, "fig")


def fewer_left(page: Page, shop: Shop) -> None:
    shop.round("atomic", 3, "fig")
    as_it_was(page, shop)
    shop.buy(requests.Session(), quantity=2, item="fig")
    send(page, "fig", 3)


@contextmanager
def locked(shop: Shop, item: str, number: int) -> Iterator[None]:
    """Another buyer has the round's lock meanwhile."""
    key = f"{{{item}}}:{number}:lock"
    password = (shop.folder / "var" / "store-password").read_text()
    port = int(shop.environ["STORE_PORT"])
    with redis.Redis(port=port, password=password, socket_timeout=5) as store:
        assert store.set(key, "somebody", nx=True, px=60_000)
        yield
        assert store.delete(key)


def busy(page: Page, shop: Shop) -> None:
    """Another buyer has the lock, and this buyer does not wait."""
    number = shop.round("lock:lease", 9, "fig", wait_ms=0)["round"]
    with locked(shop, "fig", number):
        press(page, shop, "fig")


def not_open(page: Page, shop: Shop) -> None:
    shop.round("atomic", 9, "fig", delay_ms=600_000)
    press(page, shop, "fig")
