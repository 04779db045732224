"""A store that lacks a sale that a worker remembers sells nothing until the loss is accepted."""

from __future__ import annotations

import pytest
import redis

from app.bootstrap import Services
from app.domain import NotOnSale, Outcome, Round, StoreAway
from app.service.purchase import Purchase
from app.service.verdict import Audit
from app.store import loss_marks
from tests.integration.trust.sellers import lastapple, opened, sold
from tests.support.data_loss import cut, length, removed, restarted
from tests.support.purchases import fulfil_all
from tests.support.servers import StoreServer, until


def settled(services: Services, round: Round) -> Audit:
    until(lambda: services.auditor.audit(round).settled)
    return services.auditor.audit(round)


def _sold(worker: Purchase) -> bool:
    try:
        return worker.buy("apple", 1).sale.outcome is Outcome.SOLD
    except StoreAway:
        return False


def test_a_cut_log_with_nothing_booked_and_a_worker_that_lives(
    services: Services, server: StoreServer
) -> None:
    round = services.rounds.start("apple", "watch", 10, {})
    worker = services.purchase()
    sold(worker, 3)
    end = length(server.folder)
    lost = worker.buy("apple", 1).sale.order
    restarted(server, lambda: cut(server.folder, end))
    with pytest.raises((StoreAway, NotOnSale)):
        worker.buy("apple", 1)
    with pytest.raises(NotOnSale):
        worker.buy("apple", 1)
    assert lost
    said = f"of which a customer was told: order {lost.id}."
    assert said in " ".join(lastapple(services, "audit").stdout.split())
    fulfil_all(services.fulfil)
    audit = services.auditor.audit(round)
    assert (audit.verdict, audit.sold, said in audit.sentence) == ("inconsistent", 3, True)
    assert lastapple(services, "audit", "--accept").exit_code == 0
    services.rounds.start("apple", "watch", 10, {})
    sold(worker, 1)
    fulfil_all(services.fulfil)
    newest = settled(services, services.rounds.find("apple"))
    assert (newest.round, newest.verdict, newest.sold) == (2, "exact", 1)


def test_what_several_threads_were_told_of_is_asked_for(
    services: Services, server: StoreServer
) -> None:
    """The last thread to record a sale need not have made the last one."""
    worker = opened(services)
    sold(worker, 1)
    end = length(server.folder)
    first, told = worker.detector.told["apple"][0], worker.detector.told["apple"]
    sold(worker, 1)
    told.append(first)
    restarted(server, lambda: cut(server.folder, end))
    with pytest.raises((StoreAway, NotOnSale)):
        worker.buy("apple", 1)
    assert loss_marks.look(services.store, "apple").lack


def test_as_long_as_it_cannot_be_marked_no_connection_is_used(
    services: Services, server: StoreServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    worker = opened(services)
    sold(worker, 1)
    end = length(server.folder)
    sold(worker, 1)

    def away(*_: object) -> bool:
        raise redis.ConnectionError("it takes no writes")

    with monkeypatch.context() as hand:
        hand.setattr(loss_marks, "mark", away)
        restarted(server, lambda: cut(server.folder, end))
        for _ in range(5):
            with pytest.raises(StoreAway):
                worker.buy("apple", 1)
    with pytest.raises((StoreAway, NotOnSale)):
        worker.buy("apple", 1)
    with pytest.raises(NotOnSale):
        worker.buy("apple", 1)


def test_a_store_that_comes_back_with_everything_sells_on(
    services: Services, server: StoreServer
) -> None:
    services.rounds.start("apple", "lock:lease", 10, {})
    services.rounds.start("pear", "sql", 10, {})
    worker = services.purchase()
    sold(worker, 3)
    worker.buy("pear", 1)
    fulfil_all(services.fulfil)
    sold(worker, 1)
    restarted(server, lambda: None)
    until(lambda: _sold(worker))
    assert "!" not in lastapple(services, "prepare").stdout


@pytest.mark.parametrize("emptied", ["flushed", "removed"])
def test_a_store_emptied_under_a_worker_that_lives(
    services: Services, server: StoreServer, emptied: str
) -> None:
    """After a flush its connection stays open: it finds that its round is gone."""
    round = services.rounds.start("apple", "atomic", 10, {})
    worker = services.purchase()
    sold(worker, 2)
    if emptied == "flushed":
        services.store.flushall()
    else:
        restarted(server, lambda: removed(server.folder))
    with pytest.raises((StoreAway, NotOnSale)):
        worker.buy("apple", 1)
    lack = loss_marks.look(services.store, "apple").lack
    assert lack
    assert (lack.loss, lack.round) == ("emptied", round.number)
