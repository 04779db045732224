"""The class's sale, over HTTP, from the countdown to the verdict; and two instructors at once."""

from __future__ import annotations

import time
from typing import Any

import pytest
from flask.testing import FlaskClient

from app.bootstrap import Services
from app.lab.classroom import sale
from app.lab.classroom.sale import Phase
from app.lab.stampede.jobs import TO_START
from app.store import classroom as class_records
from app.store import runs as run_records
from app.store.clients.redis import answering
from tests.integration.classroom.lesson import HTML, SALE, Phones, press, running, see, start
from tests.support.http_client import problem
from tests.support.purchases import fulfil_all
from tests.support.servers import until

RUNS_ON = ["valkey"]  # the class asks no store for anything special


def test_from_the_countdown_to_the_verdict(
    services: Services, lab: FlaskClient, phone: Phones
) -> None:
    ada, bo, cy = phone("Ada"), phone("Bo"), phone("Cy")
    assert ada.get("/class/state").get_json()["round"] == 0
    number = start(lab, delay_ms=5_000)
    now = ada.get("/class/state").get_json()
    assert (now["round"], now["left"]) == (number, 2)
    assert 0 < now["opens_in_ms"] <= 5_000
    early = problem(press(ada, now), 409)
    assert 0 < early["opens_in_ms"] <= now["opens_in_ms"]
    page = ada.post("/buy/apple", data={"quantity": 1, "key": now["key"]}, headers=HTML)
    assert (page.status_code, "Not open yet" in page.text) == (409, True)
    assert "Try again" in page.text, "with the same key"
    until(lambda: ada.get("/class/state").get_json()["opens_in_ms"] == 0)
    assert services.class_sale.standing().phase is Phase.SELLING
    bought = [press(ada, now).get_json()["order"] for _ in range(3)]
    assert len({*bought}) == 1, "once, however often it is pressed"
    assert press(bo, bo.get("/class/state").get_json()).status_code == 201
    gone = press(cy, cy.get("/class/state").get_json())
    assert problem(gone, 409)["outcome"] == "SOLD_OUT"
    until(lambda: not running(services), said="who looks closes it")
    until(lambda: ada.get("/class/state").get_json()["round"] == 0)
    assert problem(press(cy, {"key": "another"}), 409)["title"] == "Not on sale"
    fulfil_all(services.fulfil)
    until(lambda: see(services, most=1)[0].subject["phase"] == "over", said=str(see(services)))
    stand, names = see(services)
    assert (stand.subject["verdict"], stand.subject["sold"]) == ("exact", 2)
    assert {each["name"]: each["bought"] for each in names.subject} == {
        "Ada": True,
        "Bo": True,
        "Cy": False,
    }
    shown = lab.get("/classroom", headers=HTML).text
    assert "Sold 2\xa0of 2, 0\xa0left: every unit accounted for." in shown
    assert "The same again with naive" in shown


def test_a_sale_waits_for_those_who_have_not_bought_but_not_for_ever(
    services: Services, lab: FlaskClient, phone: Phones, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sale, "SOONEST", 0)
    monkeypatch.setattr(sale, "QUIET", 0.1)
    ada, _ = phone("Ada"), phone("Bo")
    start(lab, stock=5)
    press(ada, ada.get("/class/state").get_json())
    since = time.monotonic()
    while time.monotonic() < since + 1:
        assert services.class_sale.standing().phase is Phase.SELLING
    assert services.rounds.find("apple").running
    monkeypatch.setattr(sale, "LONGEST", 0)
    until(lambda: not running(services))


def test_a_second_instructor_ends_nobodys_sale(services: Services, lab: FlaskClient) -> None:
    first = start(lab, delay_ms=60_000)
    refused = problem(lab.post("/classroom/sale", json=SALE), 409)
    assert refused["title"] == "The sale is on"
    page = lab.post("/classroom/sale", data=SALE, headers=HTML)
    assert (page.status_code, "A sale is on" in page.text) == (409, True)
    assert lab.post(f"/classroom/close/{first}", json={}).status_code == 202
    second = start(lab, delay_ms=60_000)
    lab.post(f"/classroom/close/{first}", json={})  # an instructor pressed late
    assert services.rounds.find("apple").running
    assert services.rounds.find("apple").number == second


def test_who_comes_while_another_one_starts_is_refused(
    services: Services, lab: FlaskClient
) -> None:
    with answering():
        assert class_records.claim(services.store, "apple", "another", TO_START)
    refused = problem(lab.post("/classroom/sale", json=SALE), 409)
    assert "Another request is starting" in refused["detail"]
    assert services.rounds.newest("apple") is None
    class_records.release(services.store, "apple", "another")
    start(lab)


def test_no_sale_amid_a_stampede(services: Services, lab: FlaskClient) -> None:
    run = services.runs.start("apple", "watch", 2, {}, {"buyers": 1, "seconds": 1}, lambda _: None)
    assert run_records.beat(services.store, "apple", run.id, TO_START)
    assert problem(lab.post("/classroom/sale", json=SALE), 409)["title"] == "A run is on"
    assert services.rounds.find("apple") == run.round


@pytest.mark.parametrize(
    "wrong", [{"stock": 0}, {"mode": "none"}, {"delay_ms": -1}, {"delay_ms": "x"}, {"item": "fig"}]
)
def test_what_cannot_be_meant_starts_nothing(
    services: Services, lab: FlaskClient, wrong: dict[str, Any]
) -> None:
    problem(lab.post("/classroom/sale", json=SALE | wrong), 422)
    page = lab.post("/classroom/sale", data=SALE | wrong, headers=HTML)
    assert page.status_code == 422
    assert "The sale was not started." in page.text
    assert services.class_sale.newest() is None


def test_a_sale_that_somebody_else_overtook_is_over(services: Services, lab: FlaskClient) -> None:
    number = start(lab, delay_ms=60_000)
    other = services.rounds.start("apple", "watch", 5, {})
    assert services.class_sale.standing().phase is Phase.SETTLING
    until(lambda: see(services, most=1)[0].subject["phase"] == "over")
    for closed in (number, other.number):
        assert lab.post(f"/classroom/close/{closed}", json={}).status_code == 202
    assert services.rounds.find("apple") == other, "and the other one goes on"
    assert services.class_sale.newest() == services.rounds.find("apple", number)
