"""A renewal that is under way while the holder releases."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from app.bootstrap import Parts
from app.locks.queue import Lock, Queue
from app.locks.queue.cohort import Held
from app.locks.queue.contender import Contender
from tests.integration.locks.queue.standing import NAME, ByHand

RUNS_ON = ["valkey"]
ReleasesFirst = Callable[[Contender, Callable[[], object]], None]


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


def test_the_recipes_is_no_loss(parts: Parts, releases_first: ReleasesFirst) -> None:
    clock = ByHand()
    lock = Queue(parts.servers, clock, NAME, 10.0)
    assert lock.acquire()
    releases_first(lock.contender, lock.release)
    assert not clock.renew(), "it was the last time"
    assert (lock.lost, lock.counts.losses) == (False, 0)


def test_the_drop_ins_is_no_loss(parts: Parts, releases_first: ReleasesFirst) -> None:
    clock = ByHand()
    lock = Lock(parts.store, NAME, timeout=10, renew=True, clock=clock)
    losses: list[str] = []
    lock.on_loss(lambda: losses.append("lost"))
    assert lock.acquire()
    releases_first(lock.contender, lock.release)
    assert not clock.renew(), "it was the last time"
    assert not losses


def test_a_renewal_that_comes_too_late_is_one(parts: Parts, releases_first: ReleasesFirst) -> None:
    clock = ByHand()
    lock = Queue(parts.servers, clock, NAME, 10.0)
    assert lock.acquire()
    releases_first(lock.contender, lambda: parts.store.delete(NAME))
    assert not clock.renew()
    assert (lock.lost, lock.counts.losses) == (True, 1)
