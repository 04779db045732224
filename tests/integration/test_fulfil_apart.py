"""No item waits for another: neither for its stream, nor for its rows."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import pytest
import redis

from app.bootstrap import Services
from app.service import fulfil as fulfilling
from app.service.booking import Batch, Entries, Mover
from app.service.fulfil import Consumer
from app.store import keys
from app.store.keys import Keys
from app.store.rounds import GROUP
from app.store.sql import orders
from tests.support.purchases import fulfil_all, mode, order
from tests.support.servers import until
from tests.support.sql_hooks import rows

RUNS_ON = ["valkey"]  # test_fulfil.py moves sales on each store


@contextmanager
def at_work(services: Services) -> Iterator[None]:
    stop = threading.Event()
    thread = threading.Thread(target=services.fulfil.run, args=(stop,))
    thread.start()
    try:
        yield
        assert thread.is_alive()
    finally:
        stop.set()
        thread.join(10)


def sell(services: Services, item: str, count: int = 3) -> Keys:
    """Sell in the item's newest round, or its first one."""
    newest = services.rounds.newest(item)
    round = newest or services.rounds.start(item, "atomic", 100, {})
    for _ in range(count):
        mode(services, round).sell(order(round))
    return Keys(item, round.number)


def test_a_group_that_is_missing_is_made_anew(services: Services) -> None:
    sell(services, "fig")
    services.rounds.end("fig")
    services.store.xgroup_destroy(Keys("fig", 1).sales, GROUP)
    sell(services, "apple")
    with at_work(services):
        until(lambda: rows(services) == 6)
        services.store.xgroup_destroy(Keys("fig", 1).sales, GROUP)  # while it waits for sales
        sell(services, "apple")
        until(lambda: rows(services) == 9)
    assert services.auditor.audit(services.rounds.find("fig")).verdict == "exact"


@pytest.mark.parametrize("gone", ["the stream", "the group"])
def test_what_was_read_survives_it(
    services: Services, gone: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A dead consumer had read sales and not acknowledged them; then its group was deleted."""
    monkeypatch.setattr(fulfilling, "LEFT_BEHIND", 0)
    names = sell(services, "fig")
    services.store.xreadgroup(GROUP, "dead", {names.sales: ">"})
    if gone == "the group":
        services.store.xgroup_destroy(names.sales, GROUP)
    else:
        services.store.delete(names.sales)
    with at_work(services):
        sell(services, "apple")
        until(lambda: rows(services) == (6 if gone == "the group" else 3))
        sell(services, "fig")
        until(lambda: rows(services) == (9 if gone == "the group" else 6))


@pytest.mark.parametrize("broken", [Keys("fig", 1).sales, keys.streams("fig")])
def test_a_key_of_another_type_concerns_its_item_only(services: Services, broken: str) -> None:
    names = sell(services, "fig")
    services.store.rename(broken, "elsewhere")
    services.store.set(broken, "no stream")
    with at_work(services):
        sell(services, "apple")
        until(lambda: rows(services) == 3)
        services.fulfil.consumers[0].next_tidy = 0.0
        sell(services, "apple")
        until(lambda: rows(services) == 6)
        services.store.rename("elsewhere", broken)
        until(lambda: rows(services) == 9)
    assert services.store.xlen(names.sales) == 0


BUGS = [RuntimeError("a bug"), MemoryError("a bug"), redis.DataError("a bug")]


@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: type(bug).__name__)
def test_a_bug_in_moving_one_item_concerns_that_item_only(
    services: Services,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    bug: Exception,
) -> None:
    monkeypatch.setattr(fulfilling, "LEFT_BEHIND", 0)
    moves, tried, repaired = Mover.move, list[Keys](), threading.Event()

    def move(mover: Mover, names: Keys, entries: Entries) -> None:
        if names.item == "fig" and not repaired.is_set():
            tried.append(names)
            raise bug
        moves(mover, names, entries)

    monkeypatch.setattr(Mover, "move", move)
    sell(services, "fig")
    with caplog.at_level(logging.WARNING), at_work(services):
        until(lambda: len(tried) > 2)
        sell(services, "apple")
        until(lambda: rows(services) == 3)
        repaired.set()
        until(lambda: rows(services) == 6)
    [said] = [record for record in caplog.records if "a bug" in record.getMessage()]
    assert said.exc_info or isinstance(bug, redis.RedisError)


@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: type(bug).__name__)
def test_a_bug_in_reading_ends_nothing(
    services: Services,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    bug: Exception,
) -> None:
    reads, tried, repaired = Consumer.read, list[int](), threading.Event()

    def read(consumer: Consumer, wait: int) -> list[Batch]:
        if not repaired.is_set():
            tried.append(wait)
            raise bug
        return reads(consumer, wait)

    monkeypatch.setattr(Consumer, "read", read)
    sell(services, "apple")
    with caplog.at_level(logging.WARNING), at_work(services):
        until(lambda: len(tried) > 2)
        repaired.set()
        until(lambda: rows(services) == 3)
    assert len([record for record in caplog.records if "a bug" in record.getMessage()]) == 1


def test_no_thread_for_an_item_ends_nothing(
    services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fulfilling, "LEFT_BEHIND", 0)
    submits, tried = ThreadPoolExecutor.submit, list[str]()

    def submit(pool: ThreadPoolExecutor, deed: Any, *args: Any) -> Any:
        if getattr(deed, "__name__", "") == "run" and isinstance(deed.__self__, Mover):
            tried.append("once more")
            if len(tried) < 3:
                raise RuntimeError("can't start new thread")
        return submits(pool, deed, *args)

    monkeypatch.setattr(ThreadPoolExecutor, "submit", submit)
    sell(services, "apple")
    with at_work(services):
        until(lambda: rows(services) == 3)


def test_who_is_to_end_ends(services: Services, monkeypatch: pytest.MonkeyPatch) -> None:
    def read(consumer: Consumer, wait: int) -> list[Batch]:
        raise SystemExit(3)

    monkeypatch.setattr(Consumer, "read", read)
    with pytest.raises(SystemExit):
        services.fulfil.run(threading.Event())


def test_no_round_is_called_so(services: Services) -> None:
    sell(services, "fig")
    services.store.sadd(keys.streams("fig"), "", "three", "9" * 5_000)
    fulfil_all(services.fulfil)
    assert rows(services) == 3


def test_a_group_that_is_missing_is_made_anew_at_the_clean_up(services: Services) -> None:
    names = sell(services, "fig", 1)
    services.store.xgroup_destroy(names.sales, GROUP)
    other = Keys("fig", 7)
    services.fulfil.consumers[0].tidy([other, names])
    for each in (other, names):
        assert [group["name"] for group in services.store.xinfo_groups(each.sales)] == [b"fulfil"]


@pytest.mark.usefixtures("database_url")
@pytest.mark.parametrize("database_url", ["postgresql"], indirect=True)
def test_rows_that_wait_for_somebody_hold_up_no_other_item(services: Services) -> None:
    """Another session has written the same order and does not commit. (SQLite has one lock for
    all.)
    """
    round = services.rounds.start("fig", "atomic", 100, {})
    sold = order(round)
    with services.servers.sessions() as other:
        orders.insert_missing(other, [sold])
        mode(services, round).sell(sold)
        with at_work(services):
            until(lambda: services.store.xpending(Keys("fig", 1).sales, GROUP)["pending"] == 1)
            sell(services, "apple")
            until(lambda: rows(services) == 3, seconds=3)
            assert services.store.xlen(Keys("fig", 1).sales) == 1
            other.rollback()
            until(lambda: rows(services) == 4)
    assert services.store.xlen(Keys("fig", 1).sales) == 0
