"""A renewal of the recipe that is under way while its holder releases."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from fairlock import Contender, Held

from app.bootstrap import Services
from app.domain import Clock
from app.locks.queue import Queue

RUNS_ON = ["valkey"]
NAME = "{apple}:1:lock"
ReleasesFirst = Callable[[Contender, Callable[[], object]], None]


class ByHand(Clock):
    """Renews when the test says so."""

    renew: Callable[[], bool]

    def every(self, seconds: float, deed: Callable[[], bool]) -> Callable[[], None]:
        self.renew = deed
        return lambda: None


@pytest.fixture
def releases_first(monkeypatch: pytest.MonkeyPatch) -> ReleasesFirst:
    """The renewal reaches the server after the release."""

    def arrange(contender: Contender, release: Callable[[], object]) -> None:
        renew = contender.renew

        def renewed(held: Held) -> bool:
            release()
            return renew(held)

        monkeypatch.setattr(contender, "renew", renewed)

    return arrange


def test_is_no_loss(services: Services, releases_first: ReleasesFirst) -> None:
    clock = ByHand()
    lock = Queue(services.store, NAME, 10.0, clock=clock)
    assert lock.acquire()
    releases_first(lock.contender, lock.release)
    assert not clock.renew(), "it was the last time"
    assert (lock.lost, lock.counts.losses) == (False, 0)


def test_a_renewal_that_comes_too_late_is_one(
    services: Services, releases_first: ReleasesFirst
) -> None:
    clock = ByHand()
    lock = Queue(services.store, NAME, 10.0, clock=clock)
    assert lock.acquire()
    releases_first(lock.contender, lambda: services.store.delete(NAME))
    assert not clock.renew()
    assert (lock.lost, lock.counts.losses) == (True, 1)
