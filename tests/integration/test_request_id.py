"""A request's id: in its answer, its problem, its lines of the log, and in the order it made."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from dataclasses import replace
from io import StringIO

import pytest
from flask.testing import FlaskClient
from sqlalchemy import text

from app import create_lab, create_shop
from app.bootstrap import Services
from app.config import Settings
from app.service.order_lookup import OrderLookup
from app.service.request import Lines, current
from app.store.keys import Keys
from tests.support.http_client import buy, problem
from tests.support.purchases import fulfil_all, in_stream

RUNS_ON = ["valkey"]
HTML = {"Accept": "text/html"}
OURS = re.compile(r"[0-9a-f]{16}")
HEADER = "X-Request-Id"


@pytest.fixture
def lines() -> Iterator[StringIO]:
    """Collect this process's log lines in the servers' format."""
    said = StringIO()
    handler = logging.StreamHandler(said)
    handler.setFormatter(Lines())
    logging.getLogger().addHandler(handler)
    yield said
    logging.getLogger().removeHandler(handler)


def test_every_answer_has_one_of_its_own(shop: FlaskClient, settings: Settings) -> None:
    lab = create_lab(settings).test_client()
    asked = [
        *(shop.get(path, headers=HTML) for path in ("/", "/items", "/nowhere", "/healthz")),
        shop.get("/static/design.css"),
        shop.get("/", headers={"Host": "evil.example"}),
        buy(shop),
        buy(shop, item="durian"),
        buy(shop, Origin="http://evil.example"),
        lab.get("/", headers=HTML),
        lab.get("/nowhere"),
    ]
    ids = [answer.headers[HEADER] for answer in asked]
    assert [id for id in ids if not OURS.fullmatch(id)] == []
    assert len({*ids}) == len(ids)
    for answer in asked:
        answer.close()


def test_a_problem_says_it_and_so_does_its_page(shop: FlaskClient) -> None:
    answer = buy(shop, item="durian")
    assert problem(answer, 404)["request"] == answer.headers[HEADER]
    page = shop.get("/nowhere", headers=HTML)
    assert page.headers[HEADER] in page.text


@pytest.mark.parametrize("mode", ["atomic", "lock:lease", "sql"])
def test_an_order_keeps_the_one_that_made_it(
    services: Services, settings: Settings, database_url: str, mode: str
) -> None:
    """In the store, in the database and on its page; a second press does not change it."""
    services.rounds.start("apple", mode, 10, {})
    shop = create_shop(settings).test_client()
    first, second = (buy(shop, **{"Idempotency-Key": "k"}) for _ in range(2))
    made = first.headers[HEADER]
    assert second.headers[HEADER] != made
    there = f"/orders/{first.get_json()['order']}"
    assert second.get_json()["order"] in there
    assert shop.get(there).get_json()["request"] == made
    fulfil_all(services.fulfil)
    confirmed = shop.get(there).get_json()
    assert (confirmed["state"], confirmed["request"]) == ("confirmed", made)
    assert f"<code>{made}</code>" in shop.get(there, headers=HTML).text
    with services.engine.begin() as sql:
        assert sql.scalars(text("SELECT request FROM orders")).all() == [made]


SAID = ["a", "9f8e-7d6c.5_B", "x" * 64]
ODD = ["", " ", "x" * 65, "a b", "a,b", 'a"b', "<b>", "é", "a\tb"]


@pytest.mark.parametrize("said", SAID + ODD)
def test_a_proxys_is_taken_when_it_is_one(settings: Settings, said: str) -> None:
    behind = create_shop(replace(settings, trusted_proxies=1)).test_client()
    given = behind.get("/healthz", headers={HEADER: said}).headers[HEADER]
    assert (given == said) == (said in SAID)
    assert given == said or OURS.fullmatch(given)


def test_a_strangers_is_not_taken(shop: FlaskClient, settings: Settings) -> None:
    lab = create_lab(replace(settings, trusted_proxies=1)).test_client()
    for server in (shop, lab):
        answer = server.get("/healthz", headers={HEADER: "of-mine"})
        assert OURS.fullmatch(answer.headers[HEADER])


def test_the_lines_of_the_log_have_it(
    services: Services, settings: Settings, lines: StringIO, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A sale whose lock was lost, and an error; a line without a request has a dash."""
    services.rounds.start("apple", "lock:lease", 10, {"think": 30, "lease": 10})
    shop = create_shop(settings).test_client()
    sold = buy(shop)
    id = sold.headers[HEADER]
    assert f"WARNING {id} order {sold.get_json()['order']}: the lock was lost" in lines.getvalue()
    monkeypatch.setattr(OrderLookup, "find", lambda *_: 1 // 0)
    failed = shop.get(f"/orders/{sold.get_json()['order']}")
    assert problem(failed, 500)["request"] == failed.headers[HEADER]
    assert f"ERROR {failed.headers[HEADER]} Our fault" in lines.getvalue()
    logging.getLogger("app").warning("in between")
    assert "WARNING - in between" in lines.getvalue()
    assert current.get() == ""


def test_fulfils_line_about_a_dead_letter_has_it(
    services: Services, settings: Settings, lines: StringIO
) -> None:
    round = services.rounds.start("apple", "atomic", 10, {})
    shop = create_shop(settings).test_client()
    sold = buy(shop)
    [order] = in_stream(services, round)
    services.store.delete(Keys("apple", 1).sales)
    huge = replace(order, price=2**40)
    services.store.xadd(Keys("apple", 1).sales, {"sale": huge.encode()})
    fulfil_all(services.fulfil)
    which = f"order {sold.get_json()['order']} of request {sold.headers[HEADER]} is a dead letter"
    assert which in lines.getvalue()
    [letter] = services.dead_letters.every("apple")
    assert letter.read().request == sold.headers[HEADER]
