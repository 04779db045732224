"""Steps of these tests: sell, kill a worker, call the command."""

from __future__ import annotations

from click.testing import Result

from app.bootstrap import Services
from app.domain import Order, Outcome
from app.service.purchase import Purchase
from tests.support.command_line import environ_of, invoke
from tests.support.purchases import fulfil_all


def opened(services: Services, mode: str = "atomic", stock: int = 10, **terms: int) -> Purchase:
    """Start a round of apples; return a worker."""
    services.rounds.start("apple", mode, stock, terms)
    return services.purchase()


def booked(services: Services, times: int, mode: str = "atomic", **terms: int) -> None:
    """Start a round, sell so many in it, move them to the database, and kill its worker."""
    worker = opened(services, mode, **terms)
    sold(worker, times)
    fulfil_all(services.fulfil)
    killed(services, worker)


def bought(worker: Purchase, key: str, quantity: int = 1) -> Order:
    order = worker.buy("apple", quantity, key).sale.order
    assert order
    return order


def sold(worker: Purchase, times: int) -> None:
    for _ in range(times):
        assert worker.buy("apple", 1).sale.outcome is Outcome.SOLD


def killed(services: Services, worker: Purchase) -> None:
    """Kill the worker: it remembers nothing any more."""
    worker.reporter.stop()
    services.servers.met.clear()


def lastapple(services: Services, *words: str) -> Result:
    return invoke(*words, **environ_of(services.settings))
