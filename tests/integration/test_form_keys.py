"""A form's key finds its own buyer's order, also without a cookie, and no stranger's."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from app import create_shop
from app.bootstrap import Services
from app.config import Settings
from app.store.keys import Keys
from tests.support.http_client import buy, form_key, key_on, problem
from tests.support.purchases import fulfil_all
from tests.support.reply_proxy import LosesReplies
from tests.support.servers import StoreServer

HTML = {"Accept": "text/html"}
RUNS_ON = ["valkey"]  # the web layer decides an order's owner, the same on every store


@pytest.fixture
def app(services: Services, settings: Settings) -> Flask:
    """The shop, selling ten apples."""
    services.rounds.start("apple", "watch", 10, {})
    return create_shop(settings)


def press(browser: FlaskClient, key: str = "", quantity: int = 2) -> TestResponse:
    form = {"quantity": str(quantity)} | ({"key": key} if key else {})
    return browser.post("/buy/apple", data=form, headers=HTML)


def loaded(app: Flask) -> str:
    """Return the key of a form whose page's cookie was lost, or never taken."""
    return form_key(app.test_client())


def left(app: Flask) -> int:
    return int(app.test_client().get("/items").get_json()[0]["left"])


def test_pressed_twice_without_a_cookie_it_is_one_order(app: Flask, services: Services) -> None:
    key = loaded(app)
    browsers = [app.test_client() for _ in range(2)]
    answers = [press(browser, key) for browser in browsers]
    assert [answer.status_code for answer in answers] == [303, 303]
    [order] = {answer.headers["Location"] for answer in answers}
    assert left(app) == 8
    for count, browser in enumerate(browsers, 2):
        later = press(browser).headers["Location"]
        fulfil_all(services.fulfil)
        mine = [f"/orders/{each['id']}" for each in browser.get("/orders").get_json()["orders"]]
        assert {order, later} <= {*mine}, "either press's cookie makes later orders its own"
        assert len(mine) == count


@pytest.fixture
def lossy(store_server: StoreServer) -> Iterator[LosesReplies]:
    proxy = LosesReplies(store_server)
    yield proxy
    proxy.close()


@pytest.mark.parametrize("keyless", [False, True])
def test_who_was_left_in_doubt_finds_his_order_without_a_cookie(
    services: Services, settings: Settings, lossy: LosesReplies, keyless: bool
) -> None:
    round = services.rounds.start("apple", "atomic", 10, {})
    lossy.what = (Keys("apple", round.number).sales.encode(),)  # and no worker's heartbeat
    app = create_shop(replace(settings, redis_url=lossy.url))
    buy(app.test_client())  # the server knows the script now
    key = "" if keyless else loaded(app)
    lossy.lose_next = True
    doubt = press(app.test_client(), key)
    assert doubt.status_code == 503
    again = [press(app.test_client(), key_on(doubt.text)) for _ in range(2)]
    assert [answer.status_code for answer in again] == [303, 303]
    assert len({answer.headers["Location"] for answer in again}) == 1
    assert left(app) == 7


Stranger = Callable[[Flask, str], TestResponse]


def with_a_cookie(app: Flask, key: str) -> TestResponse:
    stranger = app.test_client()
    stranger.get("/")
    return press(stranger, key)


def without_a_cookie(app: Flask, key: str) -> TestResponse:
    return press(app.test_client(), key)


def json_with_a_cookie(app: Flask, key: str) -> TestResponse:
    stranger = app.test_client()
    stranger.get("/")
    return buy(stranger, {"quantity": 2}, **{"Idempotency-Key": key})


def json_without_a_cookie(app: Flask, key: str) -> TestResponse:
    return buy(app.test_client(), {"quantity": 2, "key": key})


def bare(key: str) -> str:
    """Return the key as it is in the ledger."""
    return key.partition(".")[0]


def refused(answer: TestResponse, order: str) -> None:
    assert answer.status_code == 422
    assert order.rpartition("/")[2] not in answer.text + str(answer.headers)


@pytest.mark.parametrize("spelt", [str, bare])
@pytest.mark.parametrize(
    "ask", [with_a_cookie, without_a_cookie, json_with_a_cookie, json_without_a_cookie]
)
def test_no_stranger_gets_an_order_by_its_key(
    app: Flask, ask: Stranger, spelt: Callable[[str], str]
) -> None:
    owner = app.test_client()
    key = form_key(owner)
    order = press(owner, key).headers["Location"]
    refused(ask(app, spelt(key)), order)
    assert press(owner, key).headers["Location"] == order
    assert left(app) == 8


@pytest.mark.parametrize(
    ("ask", "spelt"),
    [
        (with_a_cookie, str),
        (json_with_a_cookie, str),
        (json_without_a_cookie, str),
        (with_a_cookie, bare),
        (without_a_cookie, bare),
        (json_with_a_cookie, bare),
        (json_without_a_cookie, bare),
    ],
)
def test_nor_one_that_was_bought_without_a_cookie(
    app: Flask, ask: Stranger, spelt: Callable[[str], str]
) -> None:
    """Only a press of that very form, without a cookie, counts as its buyer's."""
    key = loaded(app)
    order = press(app.test_client(), key).headers["Location"]
    refused(ask(app, spelt(key)), order)
    assert left(app) == 8


@pytest.mark.parametrize("key", ["mine", "signed by us"])
@pytest.mark.parametrize("ask", [with_a_cookie, without_a_cookie, json_with_a_cookie])
def test_no_browser_gets_the_order_of_a_program(app: Flask, ask: Stranger, key: str) -> None:
    key = loaded(app) if key == "signed by us" else key
    answers = [json_without_a_cookie(app, key) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [201, 201]
    [order] = {answer.get_json()["order"] for answer in answers}
    refused(ask(app, key), order)
    assert left(app) == 8


def forged(app: Flask) -> str:
    key = loaded(app)
    return key[:-4] + ("aaaa" if key[-4:] != "aaaa" else "bbbb")


def signed_elsewhere(app: Flask) -> str:
    """Return a key signed by a shop with another secret: this shop's, before it was changed."""
    secret, app.secret_key = app.secret_key, "another"
    key = loaded(app)
    app.secret_key = secret
    return key


def of_an_older_version(app: Flask) -> str:
    return "0199b2a0-0000-7000-8000-000000000000"


@pytest.mark.parametrize("made", [forged, signed_elsewhere, of_an_older_version])
def test_a_form_that_is_none_of_ours_offers_one_that_is(
    app: Flask, made: Callable[[Flask], str]
) -> None:
    """A sale would go to an unknown buyer, and the buyer's next press would be refused."""
    key = made(app)
    answer = press(app.test_client(), key)
    assert (answer.status_code, answer.mimetype) == (422, "text/html")
    assert "Nothing was bought" in answer.text
    assert key not in answer.text
    assert left(app) == 10
    assert 'name="quantity" value="2"' in answer.text
    bought = [press(app.test_client(), key_on(answer.text)) for _ in range(2)]
    assert [answer.status_code for answer in bought] == [303, 303]
    assert left(app) == 8


@pytest.mark.parametrize("made", [forged, signed_elsewhere, of_an_older_version])
def test_a_browser_with_its_cookie_needs_no_signature(
    app: Flask, made: Callable[[Flask], str]
) -> None:
    """A page that is open during an upgrade still sells."""
    key = made(app)
    browser = app.test_client()
    browser.get("/")
    answers = [press(browser, key) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [303, 303]
    assert len({answer.headers["Location"] for answer in answers}) == 1
    assert left(app) == 8


def test_a_signature_spelt_otherwise_is_the_same_key(app: Flask) -> None:
    """The last character of its base64 has bits to spare; each spelling would buy once more."""
    key = loaded(app)
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    twin = key[:-1] + alphabet[alphabet.index(key[-1]) ^ 1]
    answers = [press(app.test_client(), each) for each in (key, twin)]
    assert [answer.status_code for answer in answers] == [303, 303]
    assert left(app) == 8


def test_a_program_repeats_its_key(app: Flask) -> None:
    """Without a cookie only the key says whose the order is."""
    answers = [json_without_a_cookie(app, "mine") for _ in range(2)]
    assert [answer.status_code for answer in answers] == [201, 201]
    assert len({answer.get_json()["order"] for answer in answers}) == 1
    assert problem(buy(app.test_client(), {"quantity": 3, "key": "mine"}), 422)
