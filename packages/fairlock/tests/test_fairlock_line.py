"""The line: served in order, without polling; a waiter that is gone or frozen delays no other."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

import fairlock_waiters
import pytest
import redis
from fairlock.queue import HANDOVER_S, WaitQueue
from fairlock_waiters import (
    LINE,
    NAME,
    Sent,
    counted,
    enqueue,
    enqueue_frozen,
    queue,
    server_of,
    stranger,
)
from servers.waiting import until

RUNS_ON = ["valkey", "cluster"]
LEASE_S = 10.0  # of a frozen waiter that took the lock: longer than all hand-overs of a test
pytestmark = pytest.mark.again


@pytest.fixture
def _soon_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hand over in a tenth of a second, for tests in which the called waiters never come."""
    monkeypatch.setattr(fairlock_waiters, "handover_s", HANDOVER_S)


def test_free_costs_one_round_trip_and_so_does_the_release(client: redis.Redis) -> None:
    mine = queue(client)
    mine.acquire("warm", True, None)
    mine.release("warm")
    sent = Sent()
    with counted(sent):
        assert mine.acquire("a", True, None)
        assert sent.commands == 1
        assert mine.release("a")
    assert sent.commands == 2
    assert not list(client.scan_iter("*:line"))


def test_first_come_first_served(client: redis.Redis, pool: ThreadPoolExecutor) -> None:
    holder = queue(client)
    holder.acquire("holder", True, None)
    waiting = [enqueue(client, pool, f"w{number}") for number in range(8)]
    token = "holder"
    for number, future in enumerate(waiting):
        assert not future.done()
        assert holder.release(token)
        token = f"w{number}"
        # The hand-over is in the release itself: no other client's step lies in between.
        assert client.get(NAME) == token.encode()
        assert future.result(5)


@pytest.mark.parametrize(
    ("makes", "opening", "steady"),
    [
        (stranger, 5, 3),  # (asked, subscribed,) stood in line, took, released
        (queue, 4, 2),  # the same, but its mate has taken the lock for it
    ],
)
def test_the_waiter_waits_in_one_command(
    client: redis.Redis,
    pool: ThreadPoolExecutor,
    makes: Callable[[redis.Redis], WaitQueue],
    opening: int,
    steady: int,
) -> None:
    """One command to stand in line, one to take the lock when called, none in between."""
    holder = queue(client)
    holder.acquire("holder", True, None)

    def twice() -> list[Sent]:
        counts = []
        for token in ("first", "second"):
            counts.append(Sent())
            with counted(counts[-1]):
                mine = makes(client)
                assert mine.acquire(token, True, 10)
                assert mine.release(token)
            ready.wait(10)
        return counts

    ready = threading.Event()
    future = pool.submit(twice)
    until(lambda: client.llen(LINE) == 1)
    holder.release("holder")
    until(lambda: not client.exists(NAME))
    holder.acquire("holder", True, None)
    ready.set()
    until(lambda: client.llen(LINE) == 1)
    holder.release("holder")
    assert [sent.commands for sent in future.result(10)] == [opening, steady]


@pytest.mark.parametrize("reads", [(), ("{apple}:1:stock",)], ids=["plain", "fused"])
def test_64_waiters_send_nothing(
    client: redis.Redis, pool: ThreadPoolExecutor, reads: Sequence[str]
) -> None:
    holder = queue(client)
    holder.acquire("holder", True, None)
    waiting = [enqueue(client, pool, f"w{number}", reads=reads) for number in range(64)]

    node = server_of(client, NAME)

    def commands() -> int:
        return int(node.info("stats")["total_commands_processed"])

    def sent() -> int:
        """Count the commands in half a second, without our own INFO."""
        before = commands()
        time.sleep(0.5)
        return commands() - before - 1

    until(lambda: sent() <= 2, said="each asks once where it stands, and then no more")
    counts = [sent() for _ in range(2)]
    assert max(counts) <= 2, counts
    token = "holder"
    for number, future in enumerate(waiting):
        holder.release(token)
        token = f"w{number}"
        assert future.result(5)
    assert not client.exists(f"{NAME}:asked"), "a served waiter is forgotten"


def test_a_waiter_that_hung_up_is_skipped(client: redis.Redis, pool: ThreadPoolExecutor) -> None:
    holder = queue(client)
    holder.acquire("holder", True, None)
    gone = enqueue_frozen(client, "gone")
    after = enqueue(client, pool, "after")
    gone.pair.unsubscribe()
    channel = json.loads(client.lrange(LINE, 0, 0)[0])[2]
    until(lambda: client.pubsub_shardnumsub(channel)[0][1] == 0)
    holder.release("holder")
    assert client.get(NAME) == b"after"
    assert after.result(5)


def test_a_waiter_that_gave_up_has_left(client: redis.Redis, pool: ThreadPoolExecutor) -> None:
    holder = queue(client)
    holder.acquire("holder", True, None)
    start = time.monotonic()
    impatient = enqueue(client, pool, "impatient", timeout_s=0.3)
    patient = enqueue(client, pool, "patient")
    assert impatient.result(5) is None
    assert time.monotonic() - start > 0.25
    assert client.llen(LINE) == 1
    holder.release("holder")
    assert client.get(NAME) == b"patient"
    assert patient.result(5)


@pytest.mark.usefixtures("_soon_passed_over")
def test_a_waiter_that_takes_the_lock_too_late_is_passed_over(
    client: redis.Redis, pool: ThreadPoolExecutor
) -> None:
    holder = queue(client)
    holder.acquire("holder", True, None)
    frozen = enqueue_frozen(client, "frozen")
    after = enqueue(client, pool, "after")
    released = time.monotonic()
    holder.release("holder")
    assert client.get(NAME) == b"frozen"
    grant = after.result(5)
    assert grant
    assert HANDOVER_S * 0.9 < time.monotonic() - released < LEASE_S, "not the lease, nor at once"
    assert frozen.extend("frozen", 10.0) is None, "its late acquire is refused"
    assert client.get(NAME) == b"after"


@pytest.mark.usefixtures("_soon_passed_over")
def test_many_frozen_waiters_cost_a_hand_over_each(
    client: redis.Redis, pool: ThreadPoolExecutor
) -> None:
    holder = queue(client)
    holder.acquire("holder", True, None)
    _connected = [enqueue_frozen(client, f"frozen{number}") for number in range(5)]
    after = enqueue(client, pool, "after")
    time.sleep(0.3)  # longer in line than FIRST_CHECK_S: it has asked, and knows when to check
    released = time.monotonic()
    holder.release("holder")
    assert after.result(10)
    assert 5 * HANDOVER_S * 0.9 < time.monotonic() - released < LEASE_S


@pytest.mark.usefixtures("_soon_passed_over")
def test_frozen_waiters_that_had_asked_cost_a_hand_over_each(
    client: redis.Redis, pool: ThreadPoolExecutor
) -> None:
    """Frozen waiters know when to check the first one; a waiter that is awake must know it, too."""
    holder = queue(client)
    holder.acquire("holder", True, None)
    frozen = [enqueue_frozen(client, f"frozen{number}", asks=True) for number in range(3)]
    after = enqueue(client, pool, "after")
    until(lambda: client.sismember(f"{NAME}:asked", "after"))
    released = time.monotonic()
    holder.release("holder")
    assert after.result(20)
    assert len(frozen) * HANDOVER_S * 0.9 < time.monotonic() - released < LEASE_S


def test_a_holder_that_died_is_outlived_by_the_first_in_line(
    client: redis.Redis, pool: ThreadPoolExecutor
) -> None:
    assert queue(client, lease_s=0.4).acquire("dead", True, None)
    first, second = enqueue(client, pool, "first"), enqueue(client, pool, "second")
    assert first.result(5)
    assert not second.done()
    queue(client).release("first")
    assert second.result(5)


def test_no_client_jumps_the_line_when_a_lease_has_ended(client: redis.Redis) -> None:
    assert queue(client).acquire("dead", True, None)
    _connected = enqueue_frozen(client, "first")
    client.pexpire(NAME, 1)
    until(lambda: not client.exists(NAME))
    assert queue(client).acquire("jumper", False, None) is None
    assert client.get(NAME) == b"first"
