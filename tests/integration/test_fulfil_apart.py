"""No item waits for another: neither for its stream, nor for its rows."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from app.bootstrap import Parts
from app.service import fulfil as fulfilling
from app.store import keys, orders
from app.store.keys import Keys
from app.store.rounds import GROUP
from tests.integration.database import rows
from tests.selling import fulfil_all, mode, order
from tests.servers import until


@contextmanager
def at_work(parts: Parts) -> Iterator[None]:
    stop = threading.Event()
    thread = threading.Thread(target=parts.fulfil.run, args=(stop,))
    thread.start()
    try:
        yield
        assert thread.is_alive()
    finally:
        stop.set()
        thread.join(10)


def sell(parts: Parts, item: str, count: int = 3) -> Keys:
    """In the item's newest round, or its first one."""
    newest = parts.rounds.newest(item)
    round = newest or parts.rounds.start(item, "atomic", 100, {})
    for _ in range(count):
        mode(parts, round).sell(order(round))
    return Keys(item, round.number)


def test_a_group_that_is_missing_is_made_anew(parts: Parts) -> None:
    sell(parts, "fig")
    parts.rounds.end("fig")
    parts.store.xgroup_destroy(Keys("fig", 1).sales, GROUP)
    sell(parts, "apple")
    with at_work(parts):
        until(lambda: rows(parts) == 6)
        parts.store.xgroup_destroy(Keys("fig", 1).sales, GROUP)  # while it waits for sales
        sell(parts, "apple")
        until(lambda: rows(parts) == 9)
    assert parts.auditor.audit(parts.rounds.find("fig")).verdict == "exact"


@pytest.mark.parametrize("gone", ["the stream", "the group"])
def test_what_was_read_survives_it(
    parts: Parts, gone: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody acknowledged what a dead consumer had read, and then its group went."""
    monkeypatch.setattr(fulfilling, "LEFT_BEHIND", 0)
    names = sell(parts, "fig")
    parts.store.xreadgroup(GROUP, "dead", {names.sales: ">"})
    if gone == "the group":
        parts.store.xgroup_destroy(names.sales, GROUP)
    else:
        parts.store.delete(names.sales)
    with at_work(parts):
        sell(parts, "apple")
        until(lambda: rows(parts) == (6 if gone == "the group" else 3))
        sell(parts, "fig")
        until(lambda: rows(parts) == (9 if gone == "the group" else 6))


@pytest.mark.parametrize("broken", [Keys("fig", 1).sales, keys.streams("fig")])
def test_a_key_of_another_type_concerns_its_item_only(parts: Parts, broken: str) -> None:
    names = sell(parts, "fig")
    parts.store.rename(broken, "elsewhere")
    parts.store.set(broken, "no stream")
    with at_work(parts):
        sell(parts, "apple")
        until(lambda: rows(parts) == 3)
        parts.fulfil.consumers[0].next_tidy = 0.0
        sell(parts, "apple")
        until(lambda: rows(parts) == 6)
        parts.store.rename("elsewhere", broken)
        until(lambda: rows(parts) == 9)
    assert parts.store.xlen(names.sales) == 0


def test_no_round_is_called_so(parts: Parts) -> None:
    sell(parts, "fig")
    parts.store.sadd(keys.streams("fig"), "", "three", "9" * 5_000)
    fulfil_all(parts.fulfil)
    assert rows(parts) == 3


def test_a_group_that_is_missing_is_made_anew_at_the_clean_up(parts: Parts) -> None:
    names = sell(parts, "fig", 1)
    parts.store.xgroup_destroy(names.sales, GROUP)
    other = Keys("fig", 7)
    parts.fulfil.consumers[0].tidy([other, names])
    for each in (other, names):
        assert [group["name"] for group in parts.store.xinfo_groups(each.sales)] == [b"fulfil"]


@pytest.mark.usefixtures("database_url")
@pytest.mark.parametrize("database_url", ["postgresql"], indirect=True)
def test_rows_that_wait_for_somebody_hold_up_no_other_item(parts: Parts) -> None:
    """Somebody has written the same order and does not commit. (SQLite has one lock for all.)"""
    round = parts.rounds.start("fig", "atomic", 100, {})
    sold = order(round)
    with parts.servers.sessions() as other:
        orders.insert_missing(other, [sold])
        mode(parts, round).sell(sold)
        with at_work(parts):
            until(lambda: parts.store.xpending(Keys("fig", 1).sales, GROUP)["pending"] == 1)
            sell(parts, "apple")
            until(lambda: rows(parts) == 3, seconds=3)
            assert parts.store.xlen(Keys("fig", 1).sales) == 1
            other.rollback()
            until(lambda: rows(parts) == 4)
    assert parts.store.xlen(Keys("fig", 1).sales) == 0
