"""`audit --repair` on each kind of store: its script is the same, their streams are not."""

from __future__ import annotations

from app.bootstrap import Services
from app.domain import Outcome
from app.store import keys
from tests.support.purchases import fulfil_all
from tests.support.servers import STORES, until

RUNS_ON = [*STORES, "cluster"]


def test_an_emptied_store_and_a_sale_that_comes_back(services: Services) -> None:
    round = services.rounds.start("apple", "atomic", 10, {})
    worker = services.purchase()
    assert worker.buy("apple", 1).sale.outcome is Outcome.SOLD
    fulfil_all(services.fulfil)
    told = worker.buy("apple", 2).sale.order
    assert told
    services.store.flushall()
    until(lambda: services.store.exists(keys.witnessed("apple")))  # the worker has noticed
    done = services.mend.do("apple")
    assert done
    (figures,) = done.rounds
    assert (figures.sold, figures.written.left) == (3, 7)
    fulfil_all(services.fulfil)
    until(lambda: services.auditor.audit(round).settled)
    audit = services.auditor.audit(round)
    assert (audit.orders, audit.left, audit.broken, audit.undersold) == (2, 7, 0, 0)
    assert services.order_lookup.find(told.id).confirmed
    assert services.rounds.start("apple", "atomic", 5, {}).number == round.number + 1
    worker.reporter.stop()
