"""A renewal of the recipe that reaches the server too late."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from fairlock import Held

from app.bootstrap import Services
from app.domain import Clock
from app.locks.queue import Queue

RUNS_ON = ["valkey"]
NAME = "{apple}:1:lock"


class ByHand(Clock):
    """A clock that renews when the test says so."""

    renew: Callable[[], bool]

    def every(self, seconds: float, deed: Callable[[], bool]) -> Callable[[], None]:
        self.renew = deed
        return lambda: None


@pytest.mark.parametrize("lost", [False, True], ids=["released", "lost"])
def test_a_late_renewal_is_a_loss_unless_the_holder_released(
    services: Services, monkeypatch: pytest.MonkeyPatch, lost: bool
) -> None:
    clock = ByHand()
    lock = Queue(services.store, NAME, 10.0, clock=clock)
    assert lock.acquire()
    renew = lock.contender.renew

    def renew_late(held: Held) -> bool:
        if lost:
            services.store.delete(NAME)
        else:
            lock.release()
        return renew(held)

    monkeypatch.setattr(lock.contender, "renew", renew_late)
    assert not clock.renew()
    assert (lock.lost, lock.counts.losses) == (lost, lost)
