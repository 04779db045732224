"""Workers' status: only the store's clock counts, and a worker that cannot report sells nothing."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from types import SimpleNamespace

import pytest
import redis

from app.bootstrap import Services
from app.domain import Outcome, StoreAway
from app.service import worker_status
from app.service.purchase import Purchase
from app.service.worker_status import BEAT_S, DEAD_S, MUTE_S, worker_statuses
from tests.support.purchases import buying, fulfil_all
from tests.support.servers import until

RUNS_ON = ["valkey", "cluster"]
MakeWorker = Callable[[], Purchase]


def test_a_worker_that_was_made_says_nothing_until_it_is_started(services: Services) -> None:
    before = set(threading.enumerate())
    made = Purchase(services.servers, services.rounds, services.holds)
    assert set(threading.enumerate()) <= before
    made.reporter.start()
    assert [each.name for each in set(threading.enumerate()) - before] == ["status"]


@pytest.mark.parametrize("ahead", [-3600, -6, 6])
def test_a_worker_whose_clock_is_wrong_is_waited_for(
    services: Services, worker: MakeWorker, monkeypatch: pytest.MonkeyPatch, ahead: int
) -> None:
    wrong = SimpleNamespace(time=lambda: time.time() + ahead, monotonic=time.monotonic)
    monkeypatch.setattr(worker_status, "time", wrong)
    round = services.rounds.start("apple", "naive", 10, {"think": 1})
    shop = worker()
    with buying(shop):
        time.sleep(2 * BEAT_S)  # it has reported it at least once
        audit = services.auditor.audit(round)
        assert (audit.verdict, audit.in_flight) == ("settling", 1)
    fulfil_all(services.fulfil)
    until(lambda: services.auditor.audit(round).verdict == "exact")


def test_a_sale_that_falls_between_the_lines_of_a_reading_is_noticed(
    services: Services, worker: MakeWorker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Begun and ended during the reading: neither before nor after it is there anything to see."""
    round = services.rounds.start("apple", "sql", 10, {})
    shop = worker()
    shop.buy("apple", 1)
    until(lambda: services.auditor.audit(round).settled)
    ledger = services.auditor.ledgers.of(round)
    read = ledger.snapshot
    monkeypatch.setattr(ledger, "snapshot", lambda it: [read(it), shop.buy("apple", 1)][0])
    audit = services.auditor._audit(round)
    assert (audit.settled, audit.in_flight, audit.sold) == (False, 0, 1)


def test_a_beat_that_fails_is_not_the_last(services: Services, worker: MakeWorker) -> None:
    round = services.rounds.start("apple", "atomic", 10, {})
    shop = worker()
    shop.buy("apple", 1)
    failed = threading.Event()

    def fail() -> None:
        failed.set()
        raise ZeroDivisionError

    shop.reporter.on_beat = fail
    assert failed.wait(5)
    until(
        lambda: (
            [status.answers for status in worker_statuses(services.store, round)] == [{"SOLD": 1}]
        )
    )
    shop.buy("apple", 1)
    until(
        lambda: (
            [status.answers for status in worker_statuses(services.store, round)] == [{"SOLD": 2}]
        )
    )


def test_a_worker_that_is_not_heard_sells_nothing(
    services: Services, worker: MakeWorker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Audits take it for dead after a while: until then it must have stopped selling."""
    round = services.rounds.start("apple", "atomic", 1_000_000, {})
    shop = worker()
    shop.buy("apple", 1)

    def away(**_: object) -> None:
        raise redis.ConnectionError

    heard = shop.reporter.say
    monkeypatch.setattr(shop.reporter, "say", away)
    assert MUTE_S <= DEAD_S - 1, "others must not think it dead by then"
    until(lambda: not _buys(shop), DEAD_S)
    left = services.rounds.left(round)
    monkeypatch.setattr(shop.reporter, "say", heard)
    until(lambda: _buys(shop))
    assert left is not None
    assert services.rounds.left(round) == left - 1


def _buys(shop: Purchase) -> bool:
    try:
        return shop.buy("apple", 1).sale.outcome in (Outcome.SOLD, Outcome.SOLD_OUT)
    except StoreAway:
        return False
