"""A newer version's records are not guessed at: each is reported, and everything else works."""

from __future__ import annotations

from typing import Any

import orjson
import pytest
from flask.testing import FlaskClient

from app.bootstrap import Services
from app.domain import Newer, Order, Outcome, Round, Unreadable
from app.lab.comparison.record import Comparison
from app.lab.stampede.record import Run
from app.store import keys
from app.store.keys import Keys
from app.store.sql import history
from tests.support import first_records
from tests.support.http_client import buy, form_key, problem
from tests.support.purchases import fulfil_all

RUNS_ON = ["valkey"]
PAGE, JSON = {"Accept": "text/html"}, {"Accept": "application/json"}
SAID = "A newer version of Last Apple started this round: not on sale here. Upgrade."
NEWER: list[dict[str, Any]] = [{"version": 2}, {"flavour": "sour"}, {"mode": "barter"}]
ROUND = orjson.loads(first_records.ROUND)


@pytest.fixture(params=NEWER, ids=["version", "member", "mode"])
def newer(request: pytest.FixtureRequest, services: Services) -> Round:
    """A newer version sells pears from now on."""
    old = services.rounds.start("pear", "watch", 10, {})
    record = orjson.loads(old.encode()) | {"number": 2} | request.param
    services.store.set(Keys("pear", 2).record, orjson.dumps(record))
    services.store.set(Keys("pear", 2).stock, 10)
    services.store.set(keys.newest("pear"), 2)
    return old


def test_the_shop_sells_everything_else(shop: FlaskClient, newer: Round) -> None:
    apple, pear, *_ = shop.get("/items").get_json()
    assert (apple["on_sale"], apple["why_not"]) == (True, "")
    assert (pear["on_sale"], pear["why_not"]) == (False, SAID)
    assert SAID in shop.get("/", headers=PAGE).text
    assert buy(shop, item="apple").status_code == 201
    assert problem(buy(shop, item="pear"), 409)["detail"] == SAID
    form = shop.post("/buy/pear", data={"quantity": "1", "key": form_key(shop)})
    assert form.status_code == 409
    assert SAID in form.text
    assert shop.get("/healthz").status_code == 200


def test_the_lab_shows_it_and_keeps_its_hands_off(
    lab: FlaskClient, services: Services, newer: Round
) -> None:
    before = services.store.get(Keys("pear", 2).record)
    page = lab.get("/", headers=PAGE)
    assert page.status_code == 200
    assert SAID in page.text
    wanted = {"item": "pear", "stock": 1, "mode": "atomic"}
    assert problem(lab.post("/rounds", json=wanted), 409)["detail"] == SAID
    assert SAID in lab.post("/rounds", data=wanted).text
    crowd = {"buyers": 1, "seconds": 1}
    assert problem(lab.post("/runs", json=wanted | crowd), 409)["detail"] == SAID
    for ask, path in (
        (lab.get, "/rounds/pear"),
        (lab.get, "/rounds/pear/2"),
        (lab.get, "/rounds/pear/2/audit"),
        (lab.post, "/rounds/pear/end"),
    ):
        assert problem(ask(path, headers=JSON), 409)["detail"] == SAID
        assert SAID in ask(path, headers=PAGE).text
    assert lab.get("/rounds/pear/1", headers=PAGE).status_code == 200, "its own rounds are shown"
    assert services.store.get(Keys("pear", 2).record) == before
    assert services.store.get(keys.newest("pear")) == b"2"
    assert lab.get("/healthz").status_code == 200


def test_a_newer_sale_of_the_class(shop: FlaskClient, lab: FlaskClient, services: Services) -> None:
    services.store.set(Keys("apple", 2).record, orjson.dumps(ROUND | {"number": 2, "version": 9}))
    for name in (keys.newest("apple"), keys.class_sale("apple")):
        services.store.set(name, 2)
    assert lab.get("/classroom", headers=PAGE).status_code == 200
    refused = lab.post("/classroom/sale", data={"stock": "3", "mode": "watch"})
    assert refused.status_code == 409
    assert SAID in refused.text
    assert lab.post("/classroom/close/2").status_code == 303
    shop.post("/class/name", data={"name": "Ann"})
    assert shop.get("/class/state").get_json()["round"] == 0
    assert shop.get("/class", headers=PAGE).status_code == 200


@pytest.mark.parametrize("looked", [True, False])
def test_a_hold_of_a_newer_round_is_not_said_to_be_paid(
    shop: FlaskClient, services: Services, looked: bool
) -> None:
    services.rounds.start("pear", "atomic", 10, {"hold": 600_000})
    held, names = buy(shop, item="pear").get_json(), Keys("pear", 1)
    if not looked:  # its worker died before it could enter it
        sale: Any = services.store.hget(names.held, held["order"])
        services.store.delete(names.held, names.due)
        services.store.xadd(names.holds, {"sale": sale})
    record: Any = services.store.get(names.record)
    services.store.set(names.record, orjson.dumps(orjson.loads(record) | {"mode": "barter"}))
    assert problem(shop.post(f"/orders/{held['order']}/pay", json={}), 409)
    assert problem(shop.get(f"/orders/{held['order']}", headers=JSON), 409)
    assert shop.get("/orders", headers=PAGE).status_code == 200


def test_a_newer_order_among_others(shop: FlaskClient, services: Services) -> None:
    """It is named on its own page, and missing in a list, which says so."""
    old = orjson.loads(first_records.ORDER)
    newer = old | {"id": old["id"][:-1] + "2", "gift": True}
    for each in (old, newer):
        services.store.set(keys.order("apple", each["id"]), orjson.dumps(each))
    with shop.session_transaction() as session:
        session["orders"] = [old["id"], newer["id"]]
    listed = shop.get("/orders").get_json()
    assert ([each["id"] for each in listed["orders"]], listed["partial"]) == ([old["id"]], True)
    assert shop.get("/orders", headers=PAGE).status_code == 200
    problem(shop.get(f"/orders/{newer['id']}"), 409)


def test_a_worker_leaves_a_round_that_a_newer_version_takes_over(
    services: Services, worker: Any
) -> None:
    services.rounds.start("pear", "watch", 10, {})
    seller = worker()
    assert seller.buy("pear", 1).sale.outcome is Outcome.SOLD
    services.store.set(Keys("pear", 2).record, orjson.dumps(ROUND | {"item": "pear", "version": 2}))
    services.store.set(keys.newest("pear"), 2)
    seller.running_rounds.refresh()
    with pytest.raises(Newer):
        seller.buy("pear", 1)


def test_the_first_rounds_are_left_to_it(services: Services, newer: Round) -> None:
    assert {round.item for round in services.rounds.open_shop("watch")} == {
        *("apple", "plum", "cherry", "quince", "fig")
    }


def test_fulfil_tidies_beside_it(services: Services, newer: Round) -> None:
    services.store.xgroup_create(Keys("pear", 2).sales, "fulfil", id="0", mkstream=True)
    services.store.sadd(keys.streams("pear"), 2)
    for consumer in services.fulfil.consumers:
        consumer.next_tidy = 0
    fulfil_all(services.fulfil)
    assert services.store.sismember(keys.streams("pear"), "2")


def test_the_history_goes_on_beside_what_is_newer(lab: FlaskClient, services: Services) -> None:
    run, comparison = orjson.loads(first_records.RUN), orjson.loads(first_records.COMPARISON)
    kept = {"started": 3, "events": "[]", "item": "apple", "mode": "x", "how": "finished"}
    for number, change in enumerate(({"version": 2}, {"weather": "fine"}, {})):
        record, id = run | change, f"apple-000000000{number}"
        record["id"] = id
        text = orjson.dumps(record).decode()
        with services.servers.sessions.begin() as session:
            history.save(session, history.RunRow(id=id, record=text, **kept))
    compared = orjson.dumps(comparison | {"modes": ["naive", "barter"]}).decode()
    with services.servers.sessions.begin() as session:
        id = "comparison-0000000000"
        history.save(session, history.ComparisonRow(id=id, started=4, record=compared))
    kinds = [each["kind"] for each in lab.get("/history").get_json()["past"]]
    assert kinds == ["unreadable", "unreadable", "unreadable", "run"]
    for path in ("/history", "/stampede", "/compare", "/read/naive"):
        assert lab.get(path, headers=PAGE).status_code == 200
    assert "A newer version of Last Apple made this" in lab.get("/history", headers=PAGE).text
    assert lab.get("/runs/apple-0000000002", headers=PAGE).status_code == 200
    for path in ("/runs/apple-0000000000", "/runs/apple-0000000001", f"/comparisons/{id}"):
        problem(lab.get(path), 409)


def test_an_audit_does_not_guess_at_a_newer_workers_word(
    lab: FlaskClient, services: Services
) -> None:
    services.rounds.start("apple", "watch", 10, {})
    said = b'1795368000000 {"in_flight":0,"in_doubt":1}'
    services.store.hset(Keys("apple", 1).workers, "newer", said)
    problem(lab.get("/rounds/apple/1/audit"), 409)
    assert "Made by a newer version" in lab.get("/rounds/apple/1", headers=PAGE).text


def test_every_record_says_its_version(services: Services) -> None:
    run, compared = orjson.loads(first_records.RUN), orjson.loads(first_records.COMPARISON)
    run["audit"] |= {"in_doubt": 0, "orders_lost": 0}
    since = {"masters": ""}  # missing in rounds of that time
    run["round"] |= since
    for kind, record, members in (
        (Order, first_records.ORDER, orjson.loads(first_records.ORDER)),
        (Round, first_records.ROUND, orjson.loads(first_records.ROUND) | since),
        (Run, first_records.RUN, run),
        (Comparison, first_records.COMPARISON, compared),
    ):
        read = kind.decode(record)
        assert orjson.loads(read.encode()) == members | {"version": 1}
        assert kind.decode(read.encode()) == read


@pytest.mark.parametrize("kind", [Order, Round, Run, Comparison])
@pytest.mark.parametrize("record", [b"", b"{", b"[]", b"1", b'{"id":"x"}', b'{"item":3,"id":3}'])
def test_what_is_broken_is_unreadable(kind: Any, record: bytes) -> None:
    with pytest.raises(Unreadable):
        kind.decode(record)


def test_a_broken_round_is_not_on_sale(
    shop: FlaskClient, lab: FlaskClient, services: Services
) -> None:
    services.store.set(Keys("pear", 1).record, b'{"item":"pear","number":"one"}')
    services.store.set(keys.newest("pear"), 1)
    why_not = shop.get("/items").get_json()[1]["why_not"]
    assert why_not == "This record cannot be read: its number is of a wrong type."
    assert lab.get("/", headers=PAGE).status_code == 200
    problem(buy(shop, item="pear"), 409)
