"""Threads of one process: a release takes the lock for its mate, for a whole lease."""

from __future__ import annotations

import math
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
import redis
from fairlock import Clock
from fairlock.queue import HANDOVER_S, WaitQueue
from fairlock.waiter import Waiter
from fairlock_waiters import NAME, Late, Sent, apart, counted, enqueue, queue
from servers.waiting import until

RUNS_ON = ["valkey", "cluster"]
pytestmark = pytest.mark.again


@pytest.fixture
def clock() -> Late:
    return Late()


def called(client: redis.Redis, clock: Clock, lease: float = 10.0) -> Waiter:
    """Return a waiter whose mate has just handed it the lock; it has not got the message yet."""
    holder = WaitQueue(client, NAME, lease, clock=clock)
    holder.acquire("holder", True, None)
    waiter = Waiter(holder, "mate", ())
    waiter.mine = apart(client)
    waiter.mine.subscribe()
    assert waiter.enqueue() is None
    assert holder.release("holder")
    assert client.get(NAME) == b"mate"
    return waiter


def test_a_mate_has_the_whole_lease_and_sends_nothing(client: redis.Redis, clock: Late) -> None:
    waiter = called(client, clock)
    assert client.pttl(NAME) > HANDOVER_S * 1000
    clock.by = 4.9
    sent = Sent()
    with counted(sent):
        grant = waiter.wait(math.inf)
    assert grant
    assert sent.commands == 0
    assert grant.ends == waiter.asked_at + 10.0, "the lease began later, so it does not end sooner"


def test_a_mate_that_hears_late_asks_and_has_the_whole_lease_again(
    client: redis.Redis, clock: Late
) -> None:
    waiter = called(client, clock)
    client.pexpire(NAME, 4000)
    clock.by = 6.0
    assert waiter.wait(math.inf)
    assert client.pttl(NAME) > 9000


def test_a_mate_that_was_frozen_for_a_lease_is_refused(client: redis.Redis, clock: Late) -> None:
    waiter = called(client, clock)
    client.delete(NAME)  # its lease has ended
    other = queue(client)
    assert other.acquire("other", False, None)
    clock.by = 10.1
    assert waiter.wait(clock.now() + 0.3) is None
    assert client.get(NAME) == b"other"
    assert other.extend("other", 10.0) is not None


def test_when_a_mate_is_frozen_the_next_one_waits_for_the_lease_and_no_longer(
    client: redis.Redis, pool: ThreadPoolExecutor, clock: Late
) -> None:
    """Its process released, so it was awake: it counts as a frozen holder, not a frozen waiter."""
    holder = WaitQueue(client, NAME, 0.5, clock=clock)
    holder.acquire("holder", True, None)
    frozen = Waiter(holder, "frozen", ())
    frozen.mine = apart(client)
    frozen.mine.subscribe()
    assert frozen.enqueue() is None
    after = enqueue(client, pool, "after")
    until(lambda: client.exists(f"{NAME}:asked"))  # `after` then knows when to check
    assert holder.extend("holder", 0.5)
    released = time.monotonic()
    assert holder.release("holder")
    assert client.get(NAME) == b"frozen"
    assert after.result(5)
    assert time.monotonic() - released > 0.4
