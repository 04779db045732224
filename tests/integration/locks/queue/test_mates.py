"""Threads of one process: who releases takes the lock for its mate, for a whole lease."""

from __future__ import annotations

import math
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from app.bootstrap import Parts
from app.domain import Clock
from app.locks.queue.line import HANDOVER, Line
from app.locks.queue.turn import Turn
from app.store.redis import Wire, metered
from tests.integration.locks.queue.standing import NAME, apart, line, stand
from tests.servers import until

RUNS_ON = ["valkey", "cluster"]
pytestmark = pytest.mark.again


class Later(Clock):
    """As if this thread had been frozen for `by` s."""

    by = 0.0

    def now(self) -> float:
        return super().now() + self.by


@pytest.fixture
def clock() -> Later:
    return Later()


def called(parts: Parts, clock: Clock, lease: float = 10.0) -> Turn:
    """The lock has just been handed to it by a mate; it has not yet heard of it."""
    holder = Line(parts.store, clock, NAME, lease)
    holder.acquire("holder", True, None)
    turn = Turn(holder, "mate", ())
    turn.mine = apart(parts)
    turn.mine.listen()
    assert turn.stand() is None
    assert holder.release("holder")
    assert parts.store.get(NAME) == b"mate"
    return turn


def test_a_mate_has_the_whole_lease_and_asks_nobody(parts: Parts, clock: Later) -> None:
    turn = called(parts, clock)
    assert parts.store.pttl(NAME) > HANDOVER * 1000
    clock.by = 4.9
    wire = Wire()
    with metered(wire):
        grant = turn.wait(math.inf)
    assert grant
    assert wire.round_trips == 0
    assert grant.ends == turn.asked + 10.0, "it began after that, so it does not end sooner"


def test_a_mate_that_hears_late_asks_and_has_the_whole_lease_again(
    parts: Parts, clock: Later
) -> None:
    turn = called(parts, clock)
    parts.store.pexpire(NAME, 4000)
    clock.by = 6.0
    assert turn.wait(math.inf)
    assert parts.store.pttl(NAME) > 9000


def test_a_mate_that_was_frozen_for_a_lease_is_refused(parts: Parts, clock: Later) -> None:
    turn = called(parts, clock)
    parts.store.delete(NAME)  # its lease has ended
    other = line(parts)
    assert other.acquire("other", False, None)
    clock.by = 10.1
    assert turn.wait(clock.now() + 0.3) is None
    assert parts.store.get(NAME) == b"other"
    assert other.keep("other", 10.0) is not None


@pytest.mark.timed
def test_when_a_mate_is_frozen_the_next_one_waits_for_the_lease_and_no_longer(
    parts: Parts, pool: ThreadPoolExecutor, clock: Later
) -> None:
    """Its process released, and so was awake: it is a frozen holder, not a frozen waiter."""
    holder = Line(parts.store, clock, NAME, 0.5)
    holder.acquire("holder", True, None)
    frozen = Turn(holder, "frozen", ())
    frozen.mine = apart(parts)
    frozen.mine.listen()
    assert frozen.stand() is None
    after = stand(parts, pool, "after")
    until(lambda: parts.store.exists(f"{NAME}:asked"))  # it is to be told when to look
    assert holder.keep("holder", 0.5)
    released = time.monotonic()
    assert holder.release("holder")
    assert parts.store.get(NAME) == b"frozen"
    assert after.result(5)
    assert 0.4 < time.monotonic() - released < 1.5
