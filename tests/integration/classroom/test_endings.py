"""In the end each phone that has bought learns whether its apple exists."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import pytest
from flask.testing import FlaskClient

from app.bootstrap import Services
from app.config import Settings
from app.domain import Order
from app.service.classroom.notices import FRESH
from app.service.selling import ticket
from app.store.keys import class_ending
from app.store.sql import orders
from tests.integration.classroom.lesson import HTML, Phones, press, see, start
from tests.support.purchases import fulfil_all
from tests.support.servers import StoreServer, until

RUNS_ON = ["valkey"]


def sell(services: Services, lab: FlaskClient, phones: list[FlaskClient], **sale: Any) -> int:
    """Sell to all of them, one after the other, and end the sale; return its round's number."""
    number = start(lab, **sale)
    for each in phones:
        until(lambda: phones[0].get("/class/state").get_json()["round"] == number)
        press(each, each.get("/class/state").get_json())
    close(services, lab, number)
    return number


def close(services: Services, lab: FlaskClient, number: int) -> None:
    lab.post(f"/classroom/close/{number}", json={})
    fulfil_all(services.fulfil)
    until(lambda: see(services, most=1)[0].subject["phase"] == "over")


def told(phone: FlaskClient) -> dict[str, Any]:
    """Wait for the ending that the phone gets, and return it."""
    until(lambda: phone.get("/class/state").get_json()["ending"] is not None)
    ending: dict[str, Any] = phone.get("/class/state").get_json()["ending"]
    return ending


def oversold(services: Services, round_number: int, phone: FlaskClient, at: int) -> None:
    """Record one more purchase of this phone in the ledger; `at` says when (a digit)."""
    with phone.session_transaction() as cookie:
        buyer = cookie["buyer"]
    round = services.rounds.find("apple", round_number)
    id = f"ffffffff-0000-7000-8000-00000000000{at}"
    order = Order(id, "apple", round_number, 1, 60, buyer, ticket(round, buyer), round.started)
    with services.servers.sessions.begin() as session:
        orders.insert_missing(session, [order])


def test_who_came_first_exists(services: Services, lab: FlaskClient, phone: Phones) -> None:
    ada, bo, cy, dan = (phone(name) for name in ("Ada", "Bo", "Cy", "Dan"))
    number = start(lab, stock=1)
    until(lambda: ada.get("/class/state").get_json()["round"] == number)
    press(ada, ada.get("/class/state").get_json())
    oversold(services, number, cy, 2)
    oversold(services, number, bo, 1)
    close(services, lab, number)
    assert told(ada) == {"round": number, "said": "real", "stock": 1, "sold": 3, "missing": 2}
    assert told(bo)["said"] == told(cy)["said"] == "missing"
    assert dan.get("/class/state").get_json()["ending"] is None, "who has bought nothing"
    page = bo.get("/class", headers=HTML).text
    assert "Sold 3 of 1: yours is one of the 2 that do not exist." in page, "without scripts"
    assert "and yours exists" in ada.get("/class", headers=HTML).text.split("<template")[0]


@pytest.mark.parametrize("mode", ["watch", "sql"])
def test_when_all_is_well_nobody_is_disappointed(
    services: Services, lab: FlaskClient, phone: Phones, mode: str
) -> None:
    ada = phone("Ada")
    sell(services, lab, [ada], mode=mode)
    assert (told(ada)["said"], told(ada)["missing"]) == ("sold", 0)


def test_the_next_sale_makes_it_history(
    services: Services, lab: FlaskClient, phone: Phones
) -> None:
    ada, bo = phone("Ada"), phone("Bo")
    sell(services, lab, [ada])
    assert told(ada)
    second = sell(services, lab, [bo])
    assert told(bo)["round"] == second
    until(lambda: ada.get("/class/state").get_json()["ending"] is None)


def test_one_that_cannot_be_read_is_none(
    services: Services, lab: FlaskClient, phone: Phones
) -> None:
    """An ending of another version counts as none."""
    ada = phone("Ada")
    services.store.set(class_ending("apple"), b'{"version":99}')
    assert ada.get("/class/state").get_json()["ending"] is None


def test_a_store_that_hangs_costs_one_phone_a_second_of_waiting(
    own_store: StoreServer, settings: Settings
) -> None:
    """Not each of two hundred phones, which would take all of the shop's threads."""
    own = replace(settings, redis_url=own_store.url, store_timeout=300)
    notices = Services(own).notices
    assert notices.is_of_this_class(0)
    own_store.freeze()
    notices.looked -= 10
    before = notices.looked
    assert notices.is_of_this_class(0)
    looked = notices.looked
    assert looked > before
    for _ in range(50):
        assert notices.ending_for("a-buyer") is None
    assert notices.looked == looked


def test_nobody_is_told_before_the_audit_is_sure(
    services: Services, lab: FlaskClient, phone: Phones
) -> None:
    ada = phone("Ada")
    number = start(lab)
    until(lambda: ada.get("/class/state").get_json()["round"] == number)
    press(ada, ada.get("/class/state").get_json())
    lab.post(f"/classroom/close/{number}", json={})
    assert see(services, most=1)[0].subject["phase"] == "settling", "its order is not booked yet"
    until(lambda: ada.get("/class/state").get_json()["round"] == 0)
    since = time.monotonic()
    while time.monotonic() < since + FRESH + 0.2:
        assert ada.get("/class/state").get_json()["ending"] is None
