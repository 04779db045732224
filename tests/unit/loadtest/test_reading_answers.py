"""A buyer's reading of an answer: the outcome is the body's, under the right status only."""

from __future__ import annotations

import json

import pytest

from loadtest.answers import ShopAnswer, read

SOLD = {
    "outcome": "SOLD",
    "order": "019aa52e-3f0c-7b4e-8a55-1f1d1f6a2b11",
    "item": "apple",
    "quantity": 1,
    "left": 41,
    "attempts": 3,
    "mode": "watch",
    "round": 7,
    "round_trips": 9,
    "commands": 21,
    "conflicts": 2,
    "lock_lost": False,
}


def body(**changes: object) -> bytes:
    return json.dumps(SOLD | changes).encode()


@pytest.mark.parametrize(("outcome", "status"), [("SOLD", 201), ("SOLD_OUT", 409), ("BUSY", 503)])
def test_an_outcome_comes_with_the_shops_own_counts(outcome: str, status: int) -> None:
    assert read(status, body(outcome=outcome)) == ShopAnswer(outcome, 3, 9, 21)


def test_a_noop_has_no_counts() -> None:
    assert read(200, b'{"outcome":"NOOP"}') == ShopAnswer("NOOP")


@pytest.mark.parametrize(
    ("outcome", "status"),
    [("SOLD", 200), ("SOLD", 500), ("SOLD_OUT", 201), ("BUSY", 409), ("ERROR", 503)],
)
def test_a_status_that_contradicts_the_body_is_an_error(outcome: str, status: int) -> None:
    answer = read(status, body(outcome=outcome))
    assert answer.outcome == "ERROR"
    assert answer.why == f"{outcome} with status {status}"


@pytest.mark.parametrize("status", [409, 503])
def test_a_problem_without_an_outcome_is_an_error_of_that_title(status: int) -> None:
    """Not on sale is a 409, too, and a store that is away a 503: the status alone would mislead."""
    problem = b'{"type":"about:blank","title":"Not on sale","status":409}'
    assert read(status, problem) == ShopAnswer("ERROR", why=f"{status} Not on sale")


@pytest.mark.parametrize("garbage", [b"", b"<h1>Bad Gateway</h1>", b"[1]", b'"SOLD"', b"\xff"])
def test_an_unreadable_body_is_an_error_even_with_a_good_status(garbage: bytes) -> None:
    assert read(201, garbage) == ShopAnswer("ERROR", why="201 with a body that is no JSON object")


def test_a_sale_without_its_counts_is_an_error() -> None:
    short = {name: value for name, value in SOLD.items() if name != "round_trips"}
    answer = read(201, json.dumps(short).encode())
    assert answer == ShopAnswer("ERROR", why="201 with a body that lacks 'round_trips'")
