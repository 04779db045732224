"""A renewal that is under way while the holder releases."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import redis
from fairlock import Contender, Held, Lock
from fairlock_waiters import NAME, ByHand

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


def test_is_no_loss(client: redis.Redis, releases_first: ReleasesFirst) -> None:
    clock = ByHand()
    lock = Lock(client, NAME, timeout=10, renew=True, clock=clock)
    losses: list[str] = []
    lock.on_loss(lambda: losses.append("lost"))
    assert lock.acquire()
    releases_first(lock.contender, lock.release)
    assert not clock.renew(), "it was the last time"
    assert not losses
