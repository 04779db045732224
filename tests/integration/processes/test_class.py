"""A class of real HTTP clients at a real shop: fifty in the lesson, two hundred at the opening."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
import requests

from tests.support.phones import Phone, buy_together, crowd, outcomes, together
from tests.support.servers import until
from tests.support.shop import NewShop, Shop

TOP = Path(__file__).parents[3]
LESSON = {"stock": 10, "think_ms": 200, "delay_ms": 2_600}


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    with Shop(tmp_path_factory.mktemp("class"), SHOP_THREADS="16") as shop:
        yield shop


@pytest.fixture
def phones(request: pytest.FixtureRequest, shop: Shop) -> Iterator[list[Phone]]:
    """Phones, in the number with which the test is parametrized."""
    with crowd(shop.url, request.param) as phones:
        yield phones


def start(shop: Shop, mode: str, **changes: int) -> dict[str, Any]:
    """Start a new sale's round; the one before may still have to end."""
    answers: list[requests.Response] = []

    def started() -> bool:
        wanted = LESSON | changes | {"mode": mode}
        answers.append(requests.post(f"{shop.lab}/classroom/sale", json=wanted, timeout=10))
        return answers[-1].status_code == 201

    until(started, said="the sale before is not over")
    round: dict[str, Any] = answers[-1].json()
    return round


def opening(round: dict[str, Any]) -> float:
    """Return the opening, by time.time()."""
    return datetime.fromisoformat(round["opens_at"]).timestamp()


def close(shop: Shop, round: dict[str, Any]) -> dict[str, Any]:
    """Close the sale now; return its audit."""
    requests.post(f"{shop.lab}/classroom/close/{round['round']}", json={}, timeout=10)
    return shop.audit(round["round"])


@pytest.mark.timed
@pytest.mark.parametrize("phones", [50], indirect=True)
def test_fifty_oversell_with_naive_and_not_with_watch(shop: Shop, phones: list[Phone]) -> None:
    naive = start(shop, "naive")
    buy_together(phones, naive["round"])
    audit = close(shop, naive)
    assert audit["verdict"] == "oversold"
    assert audit["sold"] == outcomes(phones)["SOLD"] > 10
    again = start(shop, "watch", wait_ms=15_000)
    for phone in phones:
        phone.answer = {}
    buy_together(phones, again["round"])
    audit = close(shop, again)
    assert (audit["verdict"], audit["sold"]) == ("exact", 10)
    assert outcomes(phones) == {"SOLD": 10, "SOLD_OUT": 40}
    assert not any(phone.missed for phone in phones)


@pytest.mark.again
@pytest.mark.alone
@pytest.mark.parametrize("phones", [200], indirect=True)
def test_it_opens_for_two_hundred_at_the_same_moment(shop: Shop, phones: list[Phone]) -> None:
    """Each clock is late by its quickest answer at most, and none is early.

    Shown with -s: on an idle machine all are within 100 ms of each other.
    """
    round = start(shop, "atomic", stock=1_000, think_ms=0, delay_ms=6_000)
    buy_together(phones, round["round"])
    clocks = sorted(1000 * (phone.opens - opening(round)) for phone in phones)
    presses = sorted(1000 * (phone.pressed - opening(round)) for phone in phones)
    polls = sorted(1000 * poll for phone in phones for poll in phone.polls)
    print(
        f"\n200 phones, ms after the opening: clocks {clocks[0]:.1f} to {clocks[-1]:.1f}, ", end=""
    )
    print(f"presses {presses[0]:.1f} to {presses[-1]:.1f}; ", end="")
    print(f"{len(polls)} polls, p50 {polls[len(polls) // 2]:.1f} ms, the slowest {polls[-1]:.1f}")
    assert outcomes(phones) == {"SOLD": 200}, "and nobody was told that it was too early"
    assert not any(phone.missed for phone in phones)
    assert clocks[0] >= 0
    for phone in phones:
        quickest = min(phone.polls[-len(phone.moments) :])
        assert phone.opens - opening(round) <= quickest + 0.005, "ms are whole"
    assert close(shop, round)["sold"] == 200


@pytest.mark.parametrize("phones", [20], indirect=True)
def test_nobody_is_let_in_early(shop: Shop, phones: list[Phone]) -> None:
    """They press without a pause until they are let in, which the page does not allow."""
    round = start(shop, "atomic", stock=1_000, think_ms=0, delay_ms=5_000)
    early: list[int] = []

    def hammer(phone: Phone) -> None:
        phone.ask()
        while phone.status != 201:
            phone.answer = {}
            phone.press()
            if phone.status == 409:
                early.append(phone.answer["opens_in_ms"])

    together(phones, hammer)
    assert len(early) > 20
    assert min(early) > 0
    orders = [phone.call("GET", f"/orders/{phone.answer['order']}")[1] for phone in phones]
    sold = [re.search(rb'"sold_at":"([^"]+)"', order) for order in orders]
    moments = [datetime.fromisoformat(each[1].decode()).timestamp() for each in sold if each]
    assert len(moments) == 20
    assert min(moments) >= opening(round)
    close(shop, round)


@pytest.mark.parametrize("phones", [30], indirect=True)
def test_a_worker_killed_in_the_middle_costs_nobody_his_apple(
    shop: Shop, phones: list[Phone]
) -> None:
    """Once in the countdown, once amid the purchases; the phones continue by themselves."""
    round = start(shop, "watch", stock=40, think_ms=20, wait_ms=15_000, delay_ms=3_000)
    together(phones, Phone.ask)
    master = shop.child("shop")
    master.children()[0].kill()

    def deed(phone: Phone) -> None:
        phone.wait_for(round["round"])
        if phone is phones[0]:
            until(lambda: outcomes(phones)["SOLD"] >= 5)
            master.children()[-1].kill()
        phone.press()

    together(phones, deed)
    assert outcomes(phones) == {"SOLD": 30}
    assert any(phone.missed for phone in phones), "they noticed"
    audit = close(shop, round)
    assert (audit["verdict"], audit["sold"], audit["duplicate_keys"]) == ("exact", 30, 0)


@pytest.mark.parametrize("phones", [60], indirect=True)
@pytest.mark.parametrize("address", ["127.0.0.1", "127.0.0.2"])
def test_a_thousand_joins_from_one_client_keep_nobody_out(
    shop: Shop, phones: list[Phone], address: str
) -> None:
    """From the address of the whole class, and from another one.

    All sixty are on the screen, and so is Anna, who comes amid the crowd.
    """
    together(phones, Phone.ask)
    anna = Phone(shop.url, "Anna", address)

    def join(number: int) -> None:
        one = Phone(shop.url, f"me {number}", address)
        for _ in range(100):  # without its cookie it is another phone each time
            one.join()
            one.cookie = ""
        one.close()

    with ThreadPoolExecutor(10) as pool:
        flood = [pool.submit(join, number) for number in range(10)]
        anna.join()
        for done in flood:
            done.result()
    names: list[str] = []

    def shown() -> bool:
        together([*phones, anna], Phone.ask)
        names[:] = on_the_screen(shop)
        return {phone.name for phone in [*phones, anna]} <= {*names}

    until(shown, said=f"{len(names)} are on the screen")
    assert len(names) < 500, "and there is room"
    anna.close()


def on_the_screen(shop: Shop) -> list[str]:
    page = requests.get(f"{shop.lab}/classroom", headers={"Accept": "text/html"}, timeout=10).text
    return re.findall(r"<bdi>([^<]*)</bdi>", page.split("<template")[0])


def test_of_instructors_who_start_at_once_one_does(shop: Shop) -> None:
    last = start(shop, "watch", delay_ms=60_000)
    close(shop, last)

    def press(_: int) -> int:
        wanted = LESSON | {"mode": "watch", "delay_ms": 60_000}
        return requests.post(f"{shop.lab}/classroom/sale", json=wanted, timeout=10).status_code

    with ThreadPoolExecutor(8) as pool:
        assert sorted(pool.map(press, range(8))) == [201] + 7 * [409]
    newest = requests.get(f"{shop.lab}/rounds/apple", timeout=10).json()
    assert (newest["round"], newest["running"]) == (last["round"] + 1, True)
    close(shop, newest)


def test_what_is_open_to_the_network_is_said(new_shop: NewShop, tmp_path: Path) -> None:
    shop = new_shop(tmp_path, SHOP_HOST="0.0.0.0", LAB_HOST="0.0.0.0")
    assert "Every device in this machine's network can open the shop and buy" in shop.said()
    printed = re.search(rf"Lab +({re.escape(shop.lab)}/\?token=\S+)", shop.said())
    assert printed
    with requests.Session() as session:
        assert session.get(f"{shop.lab}/classroom", timeout=10).status_code == 403
        assert session.get(printed[1], timeout=10).status_code == 200
        assert session.get(f"{shop.lab}/classroom", timeout=10).status_code == 200


def test_make_classroom_opens_the_shop_and_not_the_lab() -> None:
    """Unless a variable says otherwise; make only shows what it would do."""
    said = subprocess.run(
        ["make", "--dry-run", "classroom"], cwd=TOP, capture_output=True, text=True, timeout=30
    ).stdout
    assert "SHOP_HOST=${SHOP_HOST:-0.0.0.0}" in said
    assert "LAB_HOST" not in said
