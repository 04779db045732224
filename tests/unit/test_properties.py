"""Properties that hold for all values of a kind (Hypothesis): records, requests, audits."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from app.domain import ROUND_BOUNDS, Invalid, Newer, Order, Round, Unreadable, records
from app.server import parse
from app.service.audit import judge
from app.service.snapshot import Snapshot
from app.service.verdict import Verdict
from app.store.sql.orders import OrderLine

OURS = settings(database=None, derandomize=True, deadline=None, max_examples=60)

WHOLE = some.integers(-parse.LARGEST, parse.LARGEST)
TEXT = some.text(some.characters(codec="utf-8"), max_size=40)
ORDERS = some.builds(
    Order,
    **dict.fromkeys(("id", "item", "buyer", "key", "request"), TEXT),
    quantity=some.integers(1, 10),
    **dict.fromkeys(("round", "price", "at"), WHOLE),
)


@OURS
@given(ORDERS)
def test_an_order_is_read_as_it_was_written(order: Order) -> None:
    assert Order.decode(order.encode()) == order


@OURS
@given(some.sampled_from(list(ROUND_BOUNDS)), some.data())
def test_a_round_is_read_as_it_was_written(name: str, data: some.DataObject) -> None:
    bound = ROUND_BOUNDS[name]
    value = data.draw(some.integers(bound.low, bound.high))
    changed: dict[str, Any] = {name: value}
    round = replace(Round("apple", 1, 10, "watch"), **changed)
    assert Round.decode(round.encode()) == round


@OURS
@given(ORDERS, some.integers(records.VERSION + 1, 99), TEXT)
def test_what_a_newer_version_wrote_is_not_guessed_at(
    order: Order, version: int, name: str
) -> None:
    newer = order.encode().replace(records.TAIL, b',"version":%d}' % version)
    with pytest.raises(Newer):
        Order.decode(newer)
    members = records.parse(order.encode())
    if name not in members:
        with pytest.raises(Newer):
            records.versioned(Order, members | {name: 1})


@OURS
@given(some.recursive(some.none() | some.booleans() | WHOLE | TEXT, some.lists))
def test_what_is_no_order_is_refused_in_words(value: object) -> None:
    with pytest.raises(Unreadable):
        records.versioned(Order, value)


@OURS
@given(WHOLE)
def test_a_number_is_the_same_in_a_form_and_in_json(number: int) -> None:
    said = {"quantity": number}, {"quantity": str(number)}, {"quantity": f" {number} "}
    assert {parse.whole(values, "quantity") for values in said} == {number}


@OURS
@given(
    some.integers().filter(lambda number: abs(number) > parse.LARGEST)
    | some.floats()
    | some.booleans()
    | some.none()
    | some.lists(WHOLE)
    | TEXT.filter(lambda text: not text.strip().removeprefix("-").isdigit())
)
def test_what_is_no_whole_number_of_ours_is_refused(value: object) -> None:
    with pytest.raises(Invalid):
        parse.whole({"quantity": value}, "quantity")


UNITS = some.integers(0, 50)


@OURS
@given(some.integers(1, 50), UNITS, some.lists(some.integers(1, 5), max_size=12))
def test_a_verdict_is_what_its_figures_say(stock: int, left: int, quantities: list[int]) -> None:
    """In this ledger every sale is an order of its own, and no worker is selling."""
    rows = {
        (id := f"order-{n}"): OrderLine(id, units, f"key-{n}") for n, units in enumerate(quantities)
    }
    round = Round("apple", 1, stock, "watch", ended=1)
    audit = judge(round, Snapshot(left, [], len(rows), rows), [], True)
    sold = sum(quantities)
    assert (audit.sold, audit.orders, audit.left) == (sold, len(rows), left)
    assert audit.oversold == max(0, sold - stock)
    assert audit.undersold == max(0, stock - left - sold)
    assert not (audit.oversold and audit.undersold)
    exact = sold + left == stock
    assert (audit.verdict is Verdict.EXACT) == exact
    assert (audit.verdict is Verdict.OVERSOLD) == (sold > stock)


@OURS
@given(some.integers(1, 50), some.lists(some.integers(1, 5), min_size=1, max_size=12), some.data())
def test_a_key_that_bought_twice_is_never_exact(
    stock: int, quantities: list[int], data: some.DataObject
) -> None:
    rows = {
        (id := f"order-{n}"): OrderLine(id, units, f"key-{n}") for n, units in enumerate(quantities)
    }
    twice = data.draw(some.sampled_from(list(rows)))
    rows["again"] = rows[twice]
    left = max(0, stock - sum(row.quantity for row in rows.values()))
    round = Round("apple", 1, stock, "watch", ended=1)
    audit = judge(round, Snapshot(left, [], len(rows), rows), [], True)
    assert audit.duplicate_keys == 1
    assert audit.verdict is not Verdict.EXACT
