"""Several sold to in one go, while somebody else comes between its look and its write."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import pytest
from fairlock import FusedLock

from app.bootstrap import Services
from app.domain import Outcome, Round, Sale
from app.store.batch import Answered
from app.store.keys import Keys
from tests.selling import fulfil_all, in_stream, mode, order
from tests.servers import until
from tests.wire import Handed

RUNS_ON = ["valkey"]
SOLD, SOLD_OUT, BUSY = Outcome.SOLD, Outcome.SOLD_OUT, Outcome.BUSY


def told(answers: Sequence[Answered], *members: str) -> list[tuple[Any, ...]]:
    return [tuple(getattr(cast(Sale, each), name) for name in members) for each in answers]


def meddled(services: Services, round: Round, times: int) -> Handed:
    """Somebody else buys before each of its first so many MULTIs."""
    other, left = mode(services, round), [times]

    def meddle() -> None:
        if left[0]:
            left[0] -= 1
            other.sell(order(round))

    return Handed(mode(services, round), {"XADD": meddle})


@pytest.mark.usefixtures("wired")
def test_a_race_that_is_lost_is_run_again_for_all(services: Services) -> None:
    round = services.rounds.start("apple", "watch", 4, {})
    wanted = [order(round), order(round), order(round, 2)]
    answers = meddled(services, round, 1).sell_all(wanted)
    assert told(answers, "outcome", "left", "attempts", "conflicts") == [
        (SOLD, 2, 2, 1),
        (SOLD, 1, 2, 1),
        (SOLD_OUT, 1, 2, 1),
    ]
    assert len(in_stream(services, round)) == 3
    assert services.rounds.left(round) == 1


@pytest.mark.usefixtures("wired")
def test_who_needs_no_write_is_told_though_every_race_is_lost(services: Services) -> None:
    """BUSY says that stock remained, and that trying again may help."""
    round = services.rounds.start("apple", "watch", 8, {"attempts": 2})
    bought = mode(services, round).sell(order(round, key="k")).order
    wanted = [order(round, 9), order(round, key="k"), order(round, 5), order(round, 4)]
    answers = meddled(services, round, 9).sell_all([*wanted, order(round, key="k")])
    assert told(answers, "outcome", "order", "attempts", "conflicts") == [
        (SOLD_OUT, None, 2, 2),
        (SOLD, bought, 2, 2),
        (BUSY, None, 2, 2),
        (BUSY, None, 2, 2),  # sold out only if the one before it had bought
        (SOLD, bought, 2, 2),
    ]
    assert services.rounds.left(round) == 8 - 1 - 2


@pytest.mark.timed  # between its two steps 100 ms may pass
def test_a_seller_frozen_under_its_lock_sells_nothing_twice(
    services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It read the stock, froze, another sold: its write is refused, and it looks again."""
    round = services.rounds.start("apple", "fused", 2, {})
    frozen, other = mode(services, round), mode(services, round)
    real = FusedLock.acquire

    def freeze(self: FusedLock, reads: list[str], timeout_s: float) -> object:
        values = real(self, reads, timeout_s)
        monkeypatch.setattr(FusedLock, "acquire", real)
        until(lambda: not services.store.exists(Keys("apple", round.number).lock))
        assert other.sell(order(round)).outcome is SOLD
        return values

    monkeypatch.setattr(FusedLock, "acquire", freeze)
    answers = frozen.sell_all([order(round), order(round)])  # type: ignore[attr-defined]
    assert told(answers, "outcome", "attempts") == [(SOLD, 2), (SOLD_OUT, 2)]
    fulfil_all(services.fulfil)
    audit = services.auditor.audit(round)
    assert (audit.verdict, audit.sold) == ("exact", 2)


def test_who_does_not_get_the_lock_is_busy_with_all_the_others(services: Services) -> None:
    round = services.rounds.start("apple", "fused", 2, {"wait": 50})
    services.store.set(Keys("apple", round.number).lock, "somebody", px=60_000)
    answers = mode(services, round).sell_all([order(round)] * 2)  # type: ignore[attr-defined]
    assert told(answers, "outcome", "attempts") == [(BUSY, 1)] * 2
    assert services.rounds.left(round) == 2
