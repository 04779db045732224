"""`lastapple deadletter`, and the pages of lab and shop for entries that cannot be read."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from typing import Any

import pytest
from click.testing import Result
from flask.testing import FlaskClient

from app import create_lab, create_shop
from app.bootstrap import Services
from app.config import Settings
from app.domain import Round
from app.store.keys import Keys
from tests.support.command_line import environ_of, invoke
from tests.support.http_client import buy, problem
from tests.support.purchases import fulfil_all, mode, order

RUNS_ON = ["valkey"]  # test_dead_letters runs on each store
HTML = {"Accept": "text/html"}
Command = Callable[..., Result]


@pytest.fixture
def deadletter(settings: Settings) -> Command:
    return partial(invoke, "deadletter", **environ_of(settings), COLUMNS="120")


@pytest.fixture
def ids(services: Services) -> list[str]:
    """Make two dead letters of figs' round 1, one no sale, one with a NUL in its key; return their
    ids.
    """
    round = services.rounds.start("fig", "atomic", 9, {})
    services.store.xadd(Keys("fig", 1).sales, {"sale": b'{"id":"[x]"}'})
    mode(services, round).sell(order(round, key="a\0b"))
    fulfil_all(services.fulfil)
    return [letter.id for letter in services.dead_letters.every()]


def test_none(services: Services, deadletter: Command) -> None:
    assert deadletter("list").output.startswith("No dead letters")
    assert json.loads(deadletter("list", "--json").output) == []


def test_they_are_listed_and_shown(deadletter: Command, ids: list[str]) -> None:
    listed = deadletter("list").output
    for word in ("fig", ids[0], ids[1], "0 s", "NUL", "lacks"):
        assert word in listed
    [first, second] = json.loads(deadletter("list", "fig", "--round", "1", "--json").output)
    assert (first["id"], first["round"], first["sale"]) == (ids[0], 1, '{"id":"[x]"}')
    assert datetime.fromisoformat(second["added_at"]).tzinfo is UTC
    assert json.loads(deadletter("show", "fig", ids[1], "--json").output) == second
    assert '{"id":"[x]"}' in deadletter("show", "fig", ids[0]).output
    assert '"key":"a\\u0000b"' in deadletter("show", "fig", ids[1]).output
    assert deadletter("list", "apple").output.startswith("No dead letters")


def test_what_is_in_stock_again_is_said(services: Services, deadletter: Command) -> None:
    round = services.rounds.start("fig", "atomic", 9, {})
    for _ in range(2):
        mode(services, round).sell(order(round, 3, key="k"))
        services.store.delete(Keys("fig", 1).key("k"))
    fulfil_all(services.fulfil)
    [letter] = services.dead_letters.every()
    assert "3 put back into stock" in deadletter("show", "fig", letter.id).output
    assert "Its units are back in stock" in deadletter("drop", "fig", letter.id, "--yes").output
    assert services.rounds.left(round) == 6
    services.store.xadd("{fig}:dead", {"round": 1, "reason": "newer", "put_back": "many"})
    assert "none put back" in deadletter("show", "fig", services.dead_letters.every()[0].id).output


def test_none_of_it_speaks_to_the_terminal(services: Services, deadletter: Command) -> None:
    said: dict[Any, Any] = {"round": 1, "reason": "[red]\x1b[2J", "sale": "\x1b]0;x\x07"}
    services.store.xadd("{fig}:dead", said)
    id = services.dead_letters.every()[0].id
    for words in (("list",), ("show", "fig", id), ("drop", "fig", id), ("retry", "fig", id)):
        printed = deadletter(*words).output
        assert "\x1b" not in printed
        assert "\x07" not in printed
    assert "[red]\\x1b[2J" in deadletter("list").output


def test_retried_those_that_still_cannot_be_booked_stay(
    services: Services, deadletter: Command, ids: list[str]
) -> None:
    names = Keys("fig", 1)
    good = order(Round("fig", 1, 9, "atomic"))
    services.store.xadd("{fig}:dead", {"round": 1, "sale": good.encode(), "reason": "mended since"})
    done = deadletter("retry", "fig", "--all")
    assert done.exit_code == 1
    assert "booked" in done.output.splitlines()[2]
    assert done.output.count("still not booked") == 2
    assert [letter.id for letter in services.dead_letters.every()] == ids
    assert services.order_lookup.find(good.id).confirmed
    assert deadletter("retry", "fig", ids[0]).exit_code == 1
    assert services.store.xlen(names.sales) == 0


def test_dropped_after_a_question(services: Services, deadletter: Command, ids: list[str]) -> None:
    asked = deadletter("drop", "fig", ids[0], typed="n\n")
    assert (asked.exit_code, len(services.dead_letters.every())) == (1, 2)
    assert "there will be no order" in asked.output
    assert deadletter("drop", "fig", ids[0], "--yes").exit_code == 0
    assert [letter.id for letter in services.dead_letters.every()] == ids[1:]


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        (("show", "fig", "1-1"), 1, "no dead letter 1-1"),
        (("show", "fig", "x"), 1, "no dead letter x"),
        (("drop", "fig", "9" * 30 + "-1", "--yes"), 1, "no dead letter"),
        (("list", "kiwi"), 2, "no item 'kiwi'"),
        (("retry", "fig"), 2, "--all"),
        (("retry", "fig", "1-1", "--all"), 2, "--all"),
    ],
)
def test_bad_input_is_one_line(
    services: Services, deadletter: Command, words: tuple[str, ...], status: int, said: str
) -> None:
    done = deadletter(*words)
    assert done.exit_code == status
    assert said in done.output.splitlines()[-1]


@pytest.mark.usefixtures("ids")
def test_the_lab_says_so_where_an_instructor_looks(settings: Settings) -> None:
    lab = create_lab(settings).test_client()
    for page in ("/", "/rounds/fig/1"):
        said = lab.get(page, headers=HTML).text
        assert "2 sales could not be booked. <code>lastapple deadletter list fig</code>" in said
    audit = lab.get("/rounds/fig/1/audit").get_json()
    assert (audit["verdict"], audit["not_booked"]) == ("inconsistent", 2)
    chinese = lab.get("/", headers=HTML | {"Accept-Language": "zh"}).text
    assert "有 2 笔成交无法入账" in chinese


def test_a_customer_whose_record_cannot_be_read_is_told_so(
    shop: FlaskClient, services: Services
) -> None:
    """Not sold again, as his key has bought; no stack trace, and no "there is no such order"."""
    services.store.set(Keys("apple", 1).key("spoilt"), b'{"id":"x"}')
    problem(buy(shop, **{"Idempotency-Key": "spoilt"}), 409)
    shop.get("/", headers=HTML)  # where a browser gets its cookie
    form = {"quantity": "1", "key": "spoilt"}
    assert shop.post("/buy/apple", data=form, headers=HTML).status_code == 409
    assert services.rounds.left(services.rounds.find("apple")) == 10
    id = "0190a6f0-0000-7000-8000-000000000000"
    services.store.set(Keys("apple", 1).order(id), b"\xff")
    problem(shop.get(f"/orders/{id}"), 409)


def test_after_its_round_too(settings: Settings, services: Services) -> None:
    """The record is then looked up without a mode, as no round runs."""
    services.store.set(Keys("apple", 1).key("spoilt"), b'{"id":"x"}')
    shop = create_shop(settings).test_client()
    problem(buy(shop, **{"Idempotency-Key": "spoilt"}), 409)
