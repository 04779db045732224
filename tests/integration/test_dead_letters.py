"""A sale that cannot be moved becomes a dead letter with its reason, and the rest is moved."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy import text

from app.bootstrap import Services
from app.domain import Order, Round
from app.store import dead_letters, keys
from app.store.keys import Keys
from app.store.rounds import GROUP
from tests.support.purchases import fulfil_all, in_stream, mode, order
from tests.support.sql_hooks import on_postgresql, rows

pytestmark = pytest.mark.usefixtures("database_url")
RUNS_ON = ["valkey"]  # `test_it_is_moved_once` runs on each store


@pytest.fixture
def round(services: Services) -> Round:
    return services.rounds.start("fig", "atomic", 30, {})


def sell(services: Services, round: Round, *keys: str) -> None:
    for key in keys:
        mode(services, round).sell(order(round, key=key))


def hostile(round: Round) -> dict[str, dict[Any, Any]]:
    """Return entries that cannot be moved, by a word of each one's reason."""
    good = order(round)
    huge = good.encode().replace(b'"quantity":1', b'"quantity":1' + b"0" * 30)
    return {
        "lacks": {"sale": b'{"id":"x"}'},
        "no field": {"sail": b"\xff", "x": b""},
        "not JSON": {"sale": b"\xff\x00{"},
        "is not JSON.": {"sale": b"[" * 100_000},
        "broken": {"sale": b"[]"},
        "its quantity is": {"sale": huge},
        "less than 1": {"sale": replace(good, quantity=-5).encode()},
        "its id is": {"sale": good.encode().replace(b'"%s"' % good.id.encode(), b"7")},
        "its price is": {"sale": good.encode().replace(b'"price":60', b'"price":true')},
        "quantity is too large": {"sale": replace(good, quantity=2**31).encode()},
        "at is too large": {"sale": replace(good, at=2**63).encode()},
        "NUL": {"sale": replace(good, key="a\0b").encode()},
        "129 characters": {"sale": replace(good, key="苹" * 129).encode()},
        "fig, 7": {"sale": replace(good, round=7).encode()},
        "apple, 1": {"sale": replace(good, item="apple").encode()},
        "newer": {"sale": good.encode().replace(b"{", b'{"newer":1,')},
    }


def test_whatever_stands_in_a_stream_the_rest_is_booked(services: Services, round: Round) -> None:
    names = Keys("fig", round.number)
    sell(services, round, "first")
    entries = hostile(round)
    for reason, fields in entries.items():
        services.store.xadd(names.sales, fields)
        sell(services, round, f"after {reason}")
    fulfil_all(services.fulfil)

    assert rows(services) == 1 + len(entries)
    assert services.store.xlen(names.sales) == 0
    assert services.store.xpending(names.sales, GROUP)["pending"] == 0
    letters = services.dead_letters.every("fig", round.number)
    for reason, letter in zip(entries, letters, strict=True):
        assert reason in letter.reason
        assert entries[reason].get("sale", letter.sale) == letter.sale
    assert letters[1].sale == b'{"sail":"\\\\xff","x":""}', "an entry without a sale keeps its all"


def test_the_audit_counts_them_and_is_not_exact(services: Services, round: Round) -> None:
    names = Keys("fig", round.number)
    sell(services, round, "a", "b", "c", "a\0b")
    fulfil_all(services.fulfil)
    audit = services.auditor.audit(round)
    assert (audit.verdict, audit.not_booked, audit.sold) == ("inconsistent", 1, 4)
    assert (audit.undersold, audit.duplicate_ids, audit.sales_without_order) == (0, 0, 1)
    assert audit.sentence == "Sold 4 of 30, 26 left, and 1 sale is not booked."

    services.store.xadd(names.sales, {"sale": b'{"id":"x"}'})
    audit = services.auditor.audit(round)
    assert (audit.verdict, audit.not_booked) == ("settling", 2), "before fulfil has seen it"
    fulfil_all(services.fulfil)
    audit = services.auditor.audit(round)
    assert (audit.verdict, audit.not_booked, audit.duplicate_ids) == ("inconsistent", 2, 0)

    other = services.rounds.start("fig", "atomic", 5, {})
    assert services.auditor.audit(other).verdict == "untouched", (
        "another round's are none of its own"
    )


@contextmanager
def refusing(services: Services, key: str) -> Iterator[None]:
    """Let the database refuse orders with this key, by a rule that is unknown to fulfil."""
    when = f"BEFORE INSERT ON orders FOR EACH ROW WHEN (NEW.key = '{key}')"
    if on_postgresql(services):
        body = "BEGIN RAISE EXCEPTION ''not this one''; END"
        make = [
            f"CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS '{body}'",
            f"CREATE TRIGGER refusing {when} EXECUTE FUNCTION refuse()",
        ]
        undo = ["DROP TRIGGER refusing ON orders", "DROP FUNCTION refuse"]
    else:
        body = "BEGIN SELECT RAISE(ABORT, 'not this one'); END"
        make = [f"CREATE TRIGGER refusing {when} {body}"]
        undo = ["DROP TRIGGER refusing"]
    with services.engine.begin() as connection:
        for statement in make:
            connection.execute(text(statement))
    yield
    with services.engine.begin() as connection:
        for statement in undo:
            connection.execute(text(statement))


def test_one_row_that_the_database_refuses_is_found_and_booked_when_it_may(
    services: Services, round: Round
) -> None:
    with refusing(services, "k13"):
        sell(services, round, *(f"k{number}" for number in range(20)))
        fulfil_all(services.fulfil)
        assert rows(services) == 19
        [letter] = services.dead_letters.every()
        assert "not this one" in letter.reason
        assert Order.decode(letter.sale).key == "k13"
        assert services.store.exists(Keys("fig", 1).key("k13")), "its buyer's key still finds it"
        assert services.auditor.audit(round).not_booked == 1
        assert "not this one" in services.dead_letters.retry(letter)
        assert services.dead_letters.every() == [letter], "it stays"
    assert services.dead_letters.retry(letter) == ""
    assert services.dead_letters.every() == []
    audit = services.auditor.audit(round)
    assert (audit.verdict, audit.orders, audit.not_booked) == ("exact", 20, 0)
    assert 0 < services.store.ttl(Keys("fig", 1).key("k13")) <= 24 * 3600


def test_no_other_conflict_than_that_of_ids_is_passed_over(
    services: Services, round: Round
) -> None:
    with services.engine.begin() as connection:
        connection.execute(text("CREATE UNIQUE INDEX only_one ON orders (item, buyer)"))
    sell(services, round, "k0")
    double = order(round, key="k1")
    services.store.xadd(Keys("fig", 1).sales, {"sale": double.encode()})
    fulfil_all(services.fulfil)
    assert rows(services) == 1
    [letter] = services.dead_letters.every()
    assert Order.decode(letter.sale) == double
    assert "unique" in letter.reason.lower()


def test_a_missing_table_is_no_rows_fault(services: Services, round: Round) -> None:
    sell(services, round, "a", "b", "c")
    with services.engine.begin() as connection:
        connection.execute(text("ALTER TABLE orders RENAME TO elsewhere"))
    fulfil_all(services.fulfil)
    assert services.dead_letters.every() == []
    assert len(in_stream(services, round)) == 3


def test_one_that_is_dropped_leaves_units_that_nobody_has(services: Services, round: Round) -> None:
    sell(services, round, "a", "b", "a\0b")
    services.store.xadd(Keys("fig", 1).sales, {"sale": b"never sold"})
    fulfil_all(services.fulfil)
    for letter in services.dead_letters.every():
        services.dead_letters.drop(letter)
    audit = services.auditor.audit(round)
    assert (audit.verdict, audit.undersold, audit.not_booked) == ("undersold", 1, 0)
    assert (audit.duplicate_ids, audit.orders_without_sale) == (0, 0)
    kept = list(services.store.scan_iter("{fig}:order:*"))
    assert [services.store.ttl(name) > 0 for name in kept] == [True], "it says so for a day"


def test_it_is_moved_once(services: Services, round: Round) -> None:
    """By two consumers at once, or by one that was killed in between and comes again."""
    names = Keys("fig", round.number)
    entry: Any = services.store.xadd(names.sales, {"sale": b"x"})
    services.store.xreadgroup(GROUP, "dead", {names.sales: ">"})
    for _ in range(2):
        dead_letters.add(services.store, names, entry, {b"sale": b"x"}, "because", 0, "")
    [letter] = services.dead_letters.every()
    assert (letter.round, letter.entry, letter.reason) == (1, entry.decode(), "because")
    assert dead_letters.drop(services.store, letter)
    assert not dead_letters.drop(services.store, letter)
    assert services.store.hgetall(keys.dropped("fig")) == {b"1": b"1"}


def test_it_stays_in_the_stream_when_it_cannot_be_moved(services: Services, round: Round) -> None:
    """The script writes the dead letter first: an error then has changed nothing."""
    names = Keys("fig", round.number)
    services.store.set(keys.dead_letters("fig"), "in its way")
    services.store.xadd(names.sales, {"sale": b"x"})
    sell(services, round, "a", "b")
    fulfil_all(services.fulfil)
    assert rows(services) == 2
    assert services.store.xlen(names.sales) == 1
