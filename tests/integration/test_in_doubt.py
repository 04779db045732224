"""A bug after a mode was asked to sell: the answer says *in doubt*, and how to ask again."""

from __future__ import annotations

import logging
from typing import Any

import pytest
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from app import create_lab, create_shop
from app.bootstrap import Services
from app.config import Settings
from app.service.holds import Holds
from app.service.purchase import Purchase
from app.service.rounds import Rounds
from app.service.selling import ticket
from app.shop import payments as holding
from app.shop import purchase_answers as bought
from app.shop.form_keys import sign
from app.store import holds
from tests.support.holds import LONG
from tests.support.http_client import form_key, key_on
from tests.support.purchases import in_stream

RUNS_ON = ["valkey"]
HTML = {"Accept": "text/html"}


@pytest.fixture
def shop(services: Services, settings: Settings) -> FlaskClient:
    services.rounds.start("apple", "atomic", 10, {})
    return create_shop(settings).test_client()


@pytest.fixture
def held(services: Services, settings: Settings) -> tuple[FlaskClient, str]:
    """The shop, and an order that is held."""
    services.rounds.start("apple", "atomic", 10, {"hold": LONG})
    shop = create_shop(settings).test_client()
    return shop, shop.post("/buy/apple", json={}).get_json()["order"]


def breaks(
    patch: pytest.MonkeyPatch, owner: Any, name: str, error: Exception | None = None
) -> None:
    """Let `owner.name` do its work, and then raise."""
    works = getattr(owner, name)

    def broken(*args: Any, **kwargs: Any) -> Any:
        works(*args, **kwargs)
        raise error or RuntimeError("a bug")

    patch.setattr(owner, name, broken)


def in_doubt(answer: TestResponse) -> dict[str, Any]:
    said: dict[str, Any] = answer.get_json()
    assert (answer.status_code, answer.headers["Retry-After"]) == (503, "1"), said
    assert said["detail"].startswith("We cannot tell whether this went through."), said
    assert said["type"] == "/contract#in-doubt"
    return said


@pytest.mark.parametrize("error", [RuntimeError("a bug"), MemoryError(), KeyError("a bug")])
@pytest.mark.parametrize("key", ["k", ""], ids=["key", "no_key"])
def test_a_bug_after_the_sale_leads_to_the_order(
    services: Services,
    shop: FlaskClient,
    caplog: pytest.LogCaptureFixture,
    error: Exception,
    key: str,
) -> None:
    with pytest.MonkeyPatch.context() as patch, caplog.at_level(logging.ERROR):
        breaks(patch, Purchase, "_take", error)
        said = in_doubt(
            shop.post("/buy/apple", json={}, headers={"Idempotency-Key": key} if key else {})
        )
    assert key in ("", said["idempotency_key"])
    assert type(error).__name__ in caplog.text
    assert "Traceback" in caplog.text
    [made] = in_stream(services, services.rounds.find("apple"))
    again = shop.post("/buy/apple", json={}, headers={"Idempotency-Key": said["idempotency_key"]})
    assert (again.status_code, again.get_json()["order"]) == (201, made.id)
    assert services.rounds.left(services.rounds.find("apple")) == 9


@pytest.mark.parametrize(("owner", "name"), [(Purchase, "_answered"), (bought, "json")])
def test_so_does_a_bug_on_the_way_to_the_buyer(
    services: Services, shop: FlaskClient, owner: Any, name: str
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        breaks(patch, owner, name)
        said = in_doubt(shop.post("/buy/apple", json={}))
    [made] = in_stream(services, services.rounds.find("apple"))
    assert said["idempotency_key"] == made.key


def test_a_bug_before_any_mode_was_asked_sold_nothing(shop: FlaskClient) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("app.shop.views.read", lambda sent: 1 / 0)
        answer = shop.post("/buy/apple", json={})
    assert (answer.status_code, "Nothing is lost" in answer.text) == (500, True)


@pytest.mark.parametrize(("owner", "name"), [(Purchase, "_take"), (bought, "see_other")])
def test_the_page_keeps_the_forms_key(
    services: Services, shop: FlaskClient, owner: Any, name: str
) -> None:
    key = form_key(shop)
    with pytest.MonkeyPatch.context() as patch:
        breaks(patch, owner, name)
        answer = shop.post("/buy/apple", data={"quantity": "1", "key": key}, headers=HTML)
    assert (answer.status_code, key_on(answer.text)) == (503, key)
    assert "Trying again is safe" in answer.text
    [made] = in_stream(services, services.rounds.find("apple"))
    again = shop.post("/buy/apple", data={"quantity": "1", "key": key}, headers=HTML)
    assert again.headers["Location"] == f"/orders/{made.id}"


def test_a_phones_ticket_comes_back_as_it_was_signed(
    services: Services, settings: Settings
) -> None:
    """Without its signature it would be refused: only the shop makes such keys."""
    round = services.rounds.start("apple", "atomic", 10, {}, tickets=True)
    app = create_shop(settings)
    phone = app.test_client()
    with app.app_context():
        key = sign(ticket(round, "me"))
    with pytest.MonkeyPatch.context() as patch:
        breaks(patch, Purchase, "_take")
        said = in_doubt(phone.post("/buy/apple", json={}, headers={"Idempotency-Key": key}))
    key = said["idempotency_key"]
    again = phone.post("/buy/apple", json={}, headers={"Idempotency-Key": key})
    assert again.status_code == 201, again.text


DEEDS = {"pay": 201, "decline": 200, "cancel": 200}


@pytest.mark.parametrize("deed", DEEDS)
@pytest.mark.parametrize(
    ("owner", "name"), [(holds, "settle"), (Holds, "put_back"), (holding, "json")]
)
def test_a_press_in_doubt_is_pressed_again(
    held: tuple[FlaskClient, str], deed: str, owner: Any, name: str
) -> None:
    shop, order = held
    if (deed, name) == ("pay", "put_back"):
        return
    with pytest.MonkeyPatch.context() as patch:
        breaks(patch, owner, name)
        patch.setattr(Holds, "look", lambda *_: None)  # the check before the press
        said = in_doubt(shop.post(f"/orders/{order}/{deed}", json={}))
    assert said["order"] == order
    assert "idempotency_key" not in said
    assert "Press the same again: it counts once." in said["detail"]
    again = shop.post(f"/orders/{order}/{deed}", json={})
    assert again.status_code == DEEDS[deed], again.text


@pytest.mark.parametrize("deed", DEEDS)
def test_the_page_of_a_press_in_doubt_leads_to_its_order(
    held: tuple[FlaskClient, str], deed: str
) -> None:
    shop, order = held
    with pytest.MonkeyPatch.context() as patch:
        breaks(patch, holding, "see_other")
        answer = shop.post(f"/orders/{order}/{deed}", headers=HTML)
    assert answer.status_code == 503
    assert f'href="/orders/{order}"' in answer.text


def test_the_lab_says_nothing_of_what_it_does_not_know(
    services: Services, settings: Settings
) -> None:
    """A second start would be a second round."""
    lab = create_lab(settings).test_client()
    with pytest.MonkeyPatch.context() as patch:
        breaks(patch, Rounds, "start")
        said = lab.post("/rounds", json={"item": "apple", "mode": "atomic", "stock": 5})
    assert services.rounds.find("apple").running
    assert (said.status_code, said.get_json()["detail"]) == (
        500,
        "We cannot tell whether this was done. Look before you press again.",
    )
