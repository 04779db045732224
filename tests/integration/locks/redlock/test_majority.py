"""redlock: which client has won, and until when."""

from __future__ import annotations

import pytest
import redis

from app.domain import Clock
from tests.support.redlock import KEY, Reach, holds, lock
from tests.support.servers import StoreServer


class Slow(Clock):
    """Each reading of the time is `step` seconds later than the one before."""

    def __init__(self, step: float) -> None:
        self.time, self.step = 0.0, step

    def now(self) -> float:
        self.time += self.step
        return self.time


@pytest.mark.parametrize(("took", "won"), [(0.98, True), (0.99, False)])
def test_it_is_won_only_with_time_left(
    servers: Reach, up: list[StoreServer], took: float, won: bool
) -> None:
    """A hundredth of the lease and 2 ms are for the clocks: of 1 s there remain 988 ms."""
    clock = Slow(took)
    held = lock(servers(up[:3]), clock, lease=1.0)
    assert held.attempt() == won
    assert holds(up[0]) == won, "what was not won must not keep others out"
    assert held.ends == (pytest.approx(took + 0.988) if won else None)
    clock.step = 0
    assert not held.lost
    clock.step = 0.1
    assert held.lost == won


def test_an_extension_counts_only_with_time_left(servers: Reach, up: list[StoreServer]) -> None:
    clock = Slow(0.0)
    held = lock(servers(up[:3]), clock)
    assert held.acquire(wait_s=0)
    assert held.extend(1.0)
    assert held.ends == pytest.approx(0.988)
    clock.step = 0.99
    assert not held.extend(1.0)
    assert (held.lost, held.counts.losses) == (True, 1)


@pytest.mark.parametrize(("others", "won"), [(1, True), (2, False)])
def test_the_majority_decides(
    servers: Reach, up: list[StoreServer], others: int, won: bool
) -> None:
    for master in up[:others]:
        with redis.Redis.from_url(master.url) as client:
            client.set(KEY, "somebody else's")
    assert lock(servers(up[:3])).acquire(wait_s=0) == won
    assert holds(up[2]) == won, "a vote that did not help is given back"
    assert holds(up[0])


def test_votes_for_several_make_nobody_a_holder(servers: Reach, up: list[StoreServer]) -> None:
    for number, master in enumerate(up[:3]):
        with redis.Redis.from_url(master.url) as client:
            client.set(KEY, f"contender {number}")
    assert not lock(servers(up[:3])).locked()


def test_a_late_undo_does_not_hit_the_next_try(servers: Reach, up: list[StoreServer]) -> None:
    """The DEL of a try that failed may reach a master that was frozen at any later time."""
    with redis.Redis.from_url(up[0].url) as first, redis.Redis.from_url(up[1].url) as second:
        first.set(KEY, "other")
        second.set(KEY, "other")
        held = lock(servers(up[:3]))
        assert not held.acquire(wait_s=0)
        early = held.token
        second.delete(KEY)
        assert held.acquire(wait_s=0)
        held.delete_if_mine([KEY], [early], client=second)
    assert held.owned()
