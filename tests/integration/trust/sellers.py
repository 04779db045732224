"""What these tests do: sell, kill a worker, call the command."""

from __future__ import annotations

from click.testing import Result

from app.bootstrap import Services
from app.domain import Outcome
from app.service.purchase import Purchase
from tests.support.command_line import environ_of, invoke


def sold(worker: Purchase, times: int) -> None:
    for _ in range(times):
        assert worker.buy("apple", 1).sale.outcome is Outcome.SOLD


def killed(services: Services, worker: Purchase) -> None:
    """It remembers nothing any more."""
    worker.reporter.stop()
    services.servers.met.clear()


def lastapple(services: Services, *words: str) -> Result:
    return invoke(*words, **environ_of(services.settings))
