"""Mode `fused`: its write checks the lock's owner, however long its buyer thinks."""

from __future__ import annotations

import pytest
from fairlock import FusedLock

from app.bootstrap import Services
from app.domain import Outcome
from app.modes.fused import Fused
from tests.support.purchases import fulfil_all, in_stream, mode, order
from tests.support.servers import until

RUNS_ON = ["valkey", "cluster"]
pytestmark = pytest.mark.timed  # between its two steps 100 ms may pass


def test_a_seller_frozen_between_its_steps_sells_nothing_twice(
    services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It read the stock and froze, another sold the unit: its write is refused, and it retries."""
    round = services.rounds.start("apple", "fused", 1, {})
    frozen, other = mode(services, round), mode(services, round)
    assert isinstance(frozen, Fused)
    real = FusedLock.acquire
    sold: list[Outcome] = []

    def freeze(self: FusedLock, reads: list[str], timeout_s: float) -> object:
        values = real(self, reads, timeout_s)
        if not sold:
            monkeypatch.setattr(FusedLock, "acquire", real)
            until(lambda: not services.store.exists(f"{{apple}}:{round.number}:lock"))
            sold.append(other.sell(order(round)).outcome)
        return values

    monkeypatch.setattr(FusedLock, "acquire", freeze)
    sale = frozen.sell(order(round))
    assert (sold, sale.outcome, sale.attempts) == ([Outcome.SOLD], Outcome.SOLD_OUT, 2)
    assert len(in_stream(services, round)) == 1
    fulfil_all(services.fulfil)
    assert services.auditor.audit(round).verdict == "exact"


@pytest.mark.parametrize("think", [0, 150])
def test_thinking_or_not_it_sells_alike(services: Services, think: int) -> None:
    round = services.rounds.start("apple", "fused", 2, {"think": think})
    seller = mode(services, round)
    first = seller.sell(order(round, key="k"))
    assert (first.outcome, first.left) == (Outcome.SOLD, 1)
    assert seller.sell(order(round, key="k")).order == first.order
    assert seller.sell(order(round, quantity=2)).outcome is Outcome.SOLD_OUT
    assert seller.sell(order(round)).left == 0
    services.rounds.end("apple")
    assert seller.sell(order(round)).outcome is Outcome.ROUND_OVER
    assert not services.store.exists(f"{{apple}}:{round.number}:lock")


def test_work_that_outlives_its_lease_sells_nothing(services: Services) -> None:
    round = services.rounds.start("apple", "fused", 1, {"lease": 50, "think": 200, "attempts": 2})
    sale = mode(services, round).sell(order(round))
    assert (sale.outcome, sale.attempts, sale.lock_lost) == (Outcome.BUSY, 2, True)
    assert (services.rounds.left(round), in_stream(services, round)) == (1, [])
