"""Phones in the class, over HTTP: their names, the roll of them, their countdown."""

from __future__ import annotations

import time
from dataclasses import replace

import orjson
from flask.testing import FlaskClient

from app import create_shop
from app.bootstrap import Services
from app.config import Settings
from app.service.classroom.members import LONG_GONE
from app.service.classroom.roll import AT_ONCE, GONE, PACE, ClassMember
from app.shop.classroom import NOTHING
from app.store import classroom as class_records
from tests.integration.classroom.lesson import HTML, Phones, start
from tests.support.http_client import problem
from tests.support.servers import StoreServer, until

RUNS_ON = ["valkey"]  # the class asks no store for anything special


def test_a_nickname_first(settings: Settings, services: Services) -> None:
    phone = create_shop(settings).test_client()
    assert 'name="name"' in phone.get("/class", headers=HTML).text
    assert problem(phone.get("/class/state"), 422)["errors"].keys() == {"name"}
    refused = phone.post("/class/name", data={"name": "\u202eAda"}, headers=HTML)
    assert refused.status_code == 422
    assert "letters, digits and signs" in refused.text
    assert "\u202e" in refused.text, "to be mended, not typed again"
    assert phone.post("/class/name", data={"name": "x" * 15_000}).status_code == 422
    assert phone.post("/class/name", data={"name": "<i>Bo"}).headers["Location"] == "/class"
    assert "&lt;i&gt;Bo" in phone.get("/class", headers=HTML).text
    polled = phone.get("/class/state")
    assert polled.status_code == 200
    assert "Set-Cookie" not in polled.headers, "it could undo a purchase's that came in between"


def test_the_projector_shows_who_is_there_in_the_order_they_came(
    services: Services, lab: FlaskClient, phone: Phones
) -> None:
    ada = phone("Ada")
    [first] = services.members.present()
    until(lambda: services.rounds.now() > first.joined + 50)  # ms: two in the same have no order
    phone("<b>Bo")
    ada.post("/class/name", json={"name": "Ada L."})
    assert [member.name for member in services.members.present()] == ["Ada L.", "<b>Bo"]
    page = lab.get("/classroom", headers=HTML).text
    assert "&lt;b&gt;Bo" in page
    assert "loopback only" in page, "and what to do"
    assert "make classroom" in page


def test_who_is_not_heard_any_more_is_gone(services: Services) -> None:
    """A dead worker's phones leave the roll, too; of two rolls the newer counts."""
    now = int(time.time() * 1000)
    old = [member(1, now - GONE - 1_000), member(2, now - GONE + 5_000)]
    for worker, roll in {
        "a": old,
        "b": [replace(member(2), name="newer")],
        "dead": [member(3, now - GONE - LONG_GONE - 1_000)],
    }.items():
        class_records.put_roll(services.store, "apple", worker, orjson.dumps(roll))
    assert [each.name for each in services.members.present()] == ["newer"]
    assert class_records.rolls(services.store, "apple").keys() == {"a", "b"}


def test_a_thousand_joins_of_one_client(
    services: Services, settings: Settings, phone: Phones
) -> None:
    """A thousand joins of one client are all accepted, and the class behind its address, too.

    The address adds AT_ONCE places in PACE: on a slow machine the joins take several such spans.
    """
    ada = phone("Ada")
    began = services.rounds.now()
    app = create_shop(settings)
    joins = [app.test_client().post("/class/name", json={"name": "me"}) for _ in range(1_000)]
    assert {answer.status_code for answer in joins} == {201}
    anna = app.test_client()
    assert anna.post("/class/name", json={"name": "Anna"}).status_code == 201

    def shown() -> bool:
        for each in (ada, anna):
            assert each.get("/class/state").status_code == 200
        return {"Ada", "Anna"} <= {member.name for member in services.members.present()}

    until(shown)
    spans = (services.rounds.now() - began) // PACE + 1
    assert len(services.members.present()) <= AT_ONCE * spans + 1, "and Ada, of another worker"


def test_it_takes_no_part_in_other_sales_of_apples(
    services: Services, lab: FlaskClient, phone: Phones
) -> None:
    """Such as a stampede's, running while the class joins: phones would buy its apples."""
    ada = phone("Ada")
    services.rounds.start("apple", "watch", 2, {})
    assert ada.get("/class/state").get_json() == NOTHING
    number = start(lab)
    until(lambda: ada.get("/class/state").get_json()["round"] == number)
    services.rounds.start("apple", "watch", 2, {})
    until(lambda: ada.get("/class/state").get_json()["round"] == 0)


def test_a_phone_that_has_lost_its_cookie_buys_once(
    services: Services, lab: FlaskClient, phone: Phones
) -> None:
    """Without the page's script; its name on the projector still says that it has bought."""
    ada = phone("Ada")
    round = services.rounds.find("apple", start(lab))
    until(lambda: ada.get("/class/state").get_json()["round"] == round.number)
    form = {"quantity": "1", "key": ada.get("/class/state").get_json()["key"]}
    presses = [
        ada.application.test_client().post("/buy/apple", data=form, headers=HTML) for _ in range(2)
    ]
    assert [answer.status_code for answer in presses] == [303, 303]
    assert len({answer.headers["Location"] for answer in presses}) == 1
    with ada.session_transaction() as cookie:
        assert services.class_sale.buyers(round) == [cookie["buyer"]]


def member(number: int, seen: int = 0) -> ClassMember:
    return ClassMember(str(number), "x", number, seen or int(time.time() * 1000))


def test_a_countdown_goes_on_while_the_store_hangs(
    own_store: StoreServer, settings: Settings
) -> None:
    own = replace(settings, redis_url=own_store.url, store_timeout=300)
    services = Services(own)
    services.migrate()
    phone = create_shop(own).test_client()
    assert phone.post("/class/name", json={"name": "Ada"}).status_code == 201
    services.class_sale.start("watch", 2, {"delay": 60_000})
    assert phone.get("/class/state").get_json()["left"] == 2
    own_store.freeze()
    state = phone.get("/class/state")
    assert state.status_code == 200
    now = state.get_json()
    assert (now["round"], now["left"]) == (1, None)
    assert 0 < now["opens_in_ms"] < 60_000
    own_store.thaw()
    until(lambda: phone.get("/class/state").get_json()["left"] == 2)
    services.store.close()
    services.engine.dispose()
