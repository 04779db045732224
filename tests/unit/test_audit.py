"""The verdict: pure arithmetic on a ledger snapshot."""

from __future__ import annotations

from dataclasses import replace

import pytest

from app.domain import Order, Round
from app.service.audit import judge
from app.service.snapshot import Snapshot
from app.service.verdict import Audit, Verdict
from app.service.worker_status import WorkerStatus
from app.store.sql.orders import OrderLine

ROUND = Round("apple", 1, 10, "watch")


def order(id: str, quantity: int = 1, key: str = "") -> Order:
    return Order(id, "apple", 1, quantity, 60, "", key or id, 0)


def judged(
    left: int,
    rows: list[Order],
    waiting: list[Order] | None = None,
    recorded: int | None = None,
    quiet: bool = True,
) -> Audit:
    waiting = waiting or []
    books = Snapshot(
        left=left,
        waiting=waiting,
        recorded=len(rows) + len(waiting) if recorded is None else recorded,
        rows={row.id: OrderLine(row.id, row.quantity, row.key) for row in rows},
    )
    return judge(ROUND, books, [], quiet)


def orders(count: int) -> list[Order]:
    return [order(f"o{number}") for number in range(count)]


@pytest.mark.parametrize(
    ("left", "sold", "verdict", "oversold", "undersold"),
    [
        (10, 0, Verdict.UNTOUCHED, 0, 0),
        (7, 3, Verdict.EXACT, 0, 0),
        (0, 10, Verdict.EXACT, 0, 0),
        (0, 13, Verdict.OVERSOLD, 3, 0),
        (4, 3, Verdict.UNDERSOLD, 0, 3),
        (9, 3, Verdict.INCONSISTENT, 0, 0),  # lost updates: 12 units out of 10
    ],
)
def test_stocked_against_left_and_sold(
    left: int, sold: int, verdict: Verdict, oversold: int, undersold: int
) -> None:
    audit = judged(left, orders(sold))
    assert (audit.verdict, audit.oversold, audit.undersold) == (verdict, oversold, undersold)
    assert audit.settled


def test_quantities_count() -> None:
    audit = judged(3, [order("a", 5), order("b", 2)])
    assert (audit.verdict, audit.sold, audit.orders) == (Verdict.EXACT, 7, 2)


def test_a_sale_on_its_way_counts_once_and_keeps_it_settling() -> None:
    on_its_way = order("a")
    audit = judged(9, [on_its_way], [on_its_way], recorded=1)  # committed, not acknowledged yet
    assert (audit.sold, audit.verdict, audit.sales_without_order) == (1, Verdict.SETTLING, 0)
    assert judged(9, [], [on_its_way]).sales_without_order == 1


def test_while_anybody_is_under_way_nothing_is_said() -> None:
    assert judged(0, orders(13), quiet=False).verdict is Verdict.SETTLING


def test_the_same_id_twice() -> None:
    assert judged(7, orders(3), recorded=4).duplicate_ids == 1


def test_the_same_key_twice() -> None:
    audit = judged(8, [order("a", key="k"), order("b", key="k")])
    assert (audit.duplicate_keys, audit.verdict) == (1, Verdict.INCONSISTENT)


def test_an_order_that_was_never_sold() -> None:
    audit = judged(7, orders(3), recorded=2)
    assert (audit.orders_without_sale, audit.verdict) == (1, Verdict.INCONSISTENT)


def test_those_turned_away_are_told_apart_from_units_lost() -> None:
    books = Snapshot(left=9, waiting=[], recorded=1, rows={"a": OrderLine("a", 1, "a")})
    audit = judge(ROUND, books, [WorkerStatus(answers={"SOLD": 1, "BUSY": 3})], quiet=True)
    assert audit.verdict is Verdict.EXACT
    assert audit.sentence.endswith("3 times a customer was turned away as BUSY.")


def test_a_round_in_which_nothing_has_happened_is_not_praised() -> None:
    untouched = Snapshot(left=10, waiting=[], recorded=0, rows={})
    audit = judge(ROUND, untouched, [WorkerStatus()], quiet=True)
    assert (audit.verdict, audit.settled) == (Verdict.UNTOUCHED, True)
    assert audit.sentence == "No purchase has been tried yet: all 10 units are there."
    assert judge(ROUND, untouched, [WorkerStatus()], quiet=False).verdict is Verdict.SETTLING
    ended = replace(ROUND, ended=2)
    assert judge(ended, untouched, [], quiet=True).verdict is Verdict.EXACT, "not yet, no more"
    refused = WorkerStatus(answers={"BUSY": 1})
    assert judge(ROUND, untouched, [refused], quiet=True).verdict is Verdict.EXACT


def test_the_sentence_counts_customers() -> None:
    assert judged(0, orders(11)).sentence == "Sold 11 of 10. 1 customer will be disappointed."
    assert "3 customers" in judged(0, orders(13)).sentence


@pytest.mark.parametrize(
    ("dead", "unreadable", "left", "sold", "undersold"),
    [
        ([order("d")], 0, 6, 4, 0),  # a buyer has its answer, and it is not in the database
        ([], 1, 6, 3, 1),  # the unit's buyer cannot be read: the text must not say "nobody"
        ([], 1, 7, 3, 0),  # nothing was ever taken for it
    ],
)
def test_a_dead_letter_is_never_exact(
    dead: list[Order], unreadable: int, left: int, sold: int, undersold: int
) -> None:
    rows = {row.id: OrderLine(row.id, row.quantity, row.key) for row in orders(3)}
    books = Snapshot(left, [], 4, rows, dead, unreadable)
    audit = judge(ROUND, books, [], quiet=True)
    assert (audit.verdict, audit.not_booked) == (Verdict.INCONSISTENT, 1)
    assert (audit.sold, audit.undersold, audit.duplicate_ids) == (sold, undersold, 0)
    assert audit.sentence.endswith("left, and 1 sale is not booked.")


def test_what_is_not_read_yet_keeps_it_settling() -> None:
    audit = judge(ROUND, Snapshot(10, [], 1, {}, unread=1), [], quiet=True)
    assert (audit.verdict, audit.not_booked) == (Verdict.SETTLING, 1)


def test_what_is_held_is_neither_left_nor_sold_and_what_is_booked_meanwhile_is_sold() -> None:
    """It was held when the store was read, and paid and moved before the database was read."""
    held, paid = order("h", 2), order("p", 3)
    books = Snapshot(5, [], 1, {"p": OrderLine("p", 3, "p")}, held=[held, paid])
    audit = judge(ROUND, books, [], quiet=True)
    assert (audit.verdict, audit.left, audit.held, audit.sold) == (Verdict.EXACT, 5, 2, 3)
    assert audit.sentence == "Sold 3 of 10, 2 held, 5 left: every unit accounted for."
    short = judge(ROUND, replace(books, left=4), [], quiet=True)
    assert (short.verdict, short.undersold) == (Verdict.UNDERSOLD, 1)
    assert short.sentence.startswith("Sold 3 of 10, 2 held, 4 left: 1 unit is missing.")
    over = judge(ROUND, replace(books, held=[order("h", 9)]), [], quiet=True)
    assert (over.verdict, over.oversold) == (Verdict.OVERSOLD, 2)
    twice = judge(ROUND, replace(books, held=[order("h", 2, "p")]), [], quiet=True)
    assert (twice.duplicate_keys, twice.verdict) == (1, Verdict.INCONSISTENT)
