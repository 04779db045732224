"""Rounds: started, ended, switched under load; the audit's patience."""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from types import SimpleNamespace
from typing import Any

import pytest
import redis

from app.bootstrap import Services
from app.domain import ITEMS, Invalid, NotOnSale, Outcome, Round, UnknownItem, UnknownRound
from app.modes import MODES
from app.service.purchase import Purchase
from app.service.round_view import warnings
from app.service.worker_status import BEAT_S
from app.store import rounds as records
from tests.support.purchases import Once, buying, fulfil_all, sold_exactly_while_switched
from tests.support.servers import until

MakeWorker = Callable[[], Purchase]


def test_a_round_is_as_it_was_wanted(services: Services) -> None:
    round = services.rounds.start("apple", "lock", 12, {"think": 5, "lease": 900, "limit": 2})
    assert (round.mode, round.recipe, round.stock, round.think) == ("lock:lease", "lease", 12, 5)
    assert services.rounds.find("apple") == services.rounds.find("apple", round.number) == round
    assert services.rounds.left(round) == 12


def test_a_start_ends_the_one_before(services: Services) -> None:
    first = services.rounds.start("apple", "watch", 5, {})
    second = services.rounds.start("apple", "atomic", 6, {})
    assert not services.rounds.find("apple", first.number).running
    assert second.running
    assert second.number == first.number + 1
    assert services.rounds.left(first) == 5


def test_many_starters_at_once_leave_one_round_running(services: Services) -> None:
    with ThreadPoolExecutor(8) as pool:
        started = list(
            pool.map(lambda n: services.rounds.start("apple", "watch", n, {}), range(1, 9))
        )
    assert sorted(round.number for round in started) == list(range(1, 9))
    running = [n for n in range(1, 9) if services.rounds.find("apple", n).running]
    assert running == [8]


def test_a_shelf_that_another_host_stocks_meanwhile_is_left_as_it_is(
    services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    shelf = records.shelf

    def overtaken(store: redis.Redis) -> list[records.Shelved]:
        empty = shelf(store)
        services.rounds.start("apple", "watch", 3, {})
        return empty

    monkeypatch.setattr(records, "shelf", overtaken)
    opened = services.rounds.open_shop("atomic")
    assert {round.item for round in opened} == set(ITEMS) - {"apple"}
    apples = services.rounds.find("apple")
    assert (apples.number, apples.mode, apples.running) == (1, "watch", True)


def test_starting_and_ending_at_once_answers_neither_with_an_error(services: Services) -> None:
    services.rounds.start("apple", "watch", 5, {})

    def start(_: int) -> None:
        services.rounds.start("apple", "watch", 5, {})

    def end(_: int) -> None:
        with suppress(NotOnSale):
            services.rounds.end("apple")

    with ThreadPoolExecutor(4) as pool:
        deeds = [pool.submit(deed, number) for number in range(60) for deed in (start, end)]
        for each in deeds:
            each.result(30)
    assert services.rounds.find("apple").number == 61


@pytest.mark.parametrize(
    ("stock", "mode", "times", "field"),
    [
        (0, "watch", {}, "stock"),
        (10**10, "watch", {}, "stock"),
        (5, "magic", {}, "mode"),
        (5, "lock:magic", {}, "mode"),
        (5, "watch:lease", {}, "mode"),
        (5, "lock", {"lease": 0}, "lease"),
        (5, "watch", {"think": -1}, "think"),
        (5, "watch", {"limit": 11}, "limit"),
        (5, "watch", {"attempts": 0}, "attempts"),
    ],
)
def test_a_round_that_cannot_be_meant(
    services: Services, stock: int, mode: str, times: dict[str, int], field: str
) -> None:
    with pytest.raises(Invalid) as refused:
        services.rounds.start("apple", mode, stock, times)
    assert list(refused.value.errors) == [field]
    with pytest.raises(UnknownRound):
        services.rounds.find("apple")


def test_a_switch_between_pointer_and_record_hides_no_round(
    services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    services.rounds.start("apple", "watch", 5, {})
    find, switch = records.find, Once(lambda: services.rounds.start("apple", "watch", 6, {}))

    def switch_then_find(*which: Any) -> Round | None:
        switch()
        return find(*which)

    monkeypatch.setattr(records, "find", switch_then_find)
    newest = services.rounds.newest("apple")
    assert newest
    assert (newest.number, newest.running) == (2, True)


def test_unknown_names(services: Services, worker: MakeWorker) -> None:
    with pytest.raises(UnknownItem):
        services.rounds.start("durian", "watch", 5, {})
    with pytest.raises(NotOnSale):
        services.rounds.end("apple")
    with pytest.raises(NotOnSale):
        worker().buy("apple", 1)


def test_a_stale_worker_sells_in_the_new_round_only(services: Services, worker: MakeWorker) -> None:
    old = services.rounds.start("apple", "watch", 10, {})
    shop = worker()
    assert shop.buy("apple", 1).round == old
    new = services.rounds.start("apple", "atomic", 10, {})
    answer = shop.buy("apple", 1)  # still has the old one, and finds its stock gone
    assert (answer.round, answer.sale.outcome) == (new, Outcome.SOLD)
    assert (services.rounds.left(old), services.rounds.left(new)) == (9, 9)


def test_an_idle_worker_learns_of_a_switch_within_a_second(
    services: Services, worker: MakeWorker
) -> None:
    services.rounds.start("apple", "watch", 10, {})
    shop = worker()
    shop.buy("apple", 1)
    services.rounds.end("apple")
    until(lambda: not shop.running_rounds.selling, seconds=1)


def test_switches_under_load_mix_no_audits(services: Services, worker: MakeWorker) -> None:
    sold_exactly_while_switched(
        services, [worker(), worker()], ["watch", "lock:lease", "atomic"] * 2
    )


def test_the_audit_says_settling_while_a_purchase_is_under_way(
    services: Services, worker: MakeWorker
) -> None:
    round = services.rounds.start("apple", "naive", 10, {})
    shop = worker()
    with buying(shop):
        audit = services.auditor.audit(round)
        assert (audit.verdict, audit.settled, audit.in_flight) == ("settling", False, 1)
    audit = services.auditor.audit(round)
    assert (audit.settled, audit.in_flight) == (False, 0), "the sale is not in the database yet"
    fulfil_all(services.fulfil)
    audit = services.auditor.audit(round)
    assert (audit.verdict, audit.settled, audit.answers["SOLD"]) == ("exact", True, 1)


def test_a_dead_workers_purchase_does_not_keep_the_audit_waiting(
    services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    round = services.rounds.start("apple", "atomic", 10, {})
    services.store.hset(
        "{apple}:1:workers",
        "killed",
        b'%d {"in_flight":1,"answers":{}}' % 1_000,
    )
    assert services.auditor.audit(round).settled
    assert BEAT_S < 1, "a worker that lives shows up well before it is given up"


@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        ("lock:lease", "oversell"),
        ("lock:getset", "oversell"),
        ("lock:watchdog", ""),
        ("lock:setnx", ""),
        ("watched", "BUSY while stock remains"),
        ("watched_blind", "BUSY while stock remains"),
        ("fenced", "BUSY while stock remains"),
        ("decr", "one key to buy twice"),
        ("watch", ""),
    ],
)
def test_only_a_lease_that_work_can_outlive_is_warned_of(mode: str, expected: str) -> None:
    said = [one for one in warnings(long_work(mode)) if "outlive the lease" in one]
    assert bool(said) == bool(expected)
    assert all(one.endswith(f": expect {expected}.") for one in said)


@pytest.mark.parametrize("mode", sorted(MODES.keys() - {"lock"}))  # its recipe has the lease
def test_every_mode_with_a_lease_is_warned_of(mode: str) -> None:
    said = any("outlive the lease" in one for one in warnings(long_work(mode)))
    assert said == ("lease_s" in inspect.getsource(MODES[mode]))


def long_work(mode: str) -> Round:
    return Round("apple", 1, 5, mode, think=100, lease=50)


def test_a_clock_that_is_set_back_stops_no_sales(
    services: Services, worker: MakeWorker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The starter's clock is an hour ahead of the seller's: the store's decides the opening."""
    ahead = SimpleNamespace(time=lambda: time.time() + 3600, monotonic=time.monotonic)
    monkeypatch.setattr(records, "time", ahead, raising=False)
    opened = services.rounds.start("apple", "atomic", 10, {})
    assert worker().buy("apple", 1).sale.outcome is Outcome.SOLD
    assert abs(opened.started - time.time() * 1000) < 60_000
    assert services.rounds.opens_in(opened) == 0
    later = services.rounds.start("apple", "atomic", 10, {"delay": 60_000})
    assert 50_000 < services.rounds.opens_in(later) < 60_100
