"""The line: served in order, nobody polls, who is gone or frozen holds up nobody."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

import orjson
import pytest

from app.bootstrap import Parts
from app.locks.queue.line import HANDOVER, Line
from app.store.redis import Wire, metered
from tests.integration.locks.queue.standing import (
    LINE,
    NAME,
    line,
    stand,
    stand_frozen,
    strange,
)
from tests.servers import until
from tests.wire import lease_runs_out

RUNS_ON = ["valkey", "cluster"]
pytestmark = [pytest.mark.again, pytest.mark.timed]  # who is called has 100 ms to come


def test_free_costs_one_round_trip_and_so_does_the_release(parts: Parts) -> None:
    mine = line(parts)
    mine.acquire("warm", True, None)
    mine.release("warm")
    wire = Wire()
    with metered(wire):
        assert mine.acquire("a", True, None)
        assert (wire.round_trips, wire.commands) == (1, 1)
        assert mine.release("a")
    assert (wire.round_trips, wire.commands) == (2, 2)
    assert not list(parts.store.scan_iter("*:line"))


def test_first_come_first_served(parts: Parts, pool: ThreadPoolExecutor) -> None:
    holder = line(parts)
    holder.acquire("holder", True, None)
    waiting = [stand(parts, pool, f"w{number}") for number in range(8)]
    token = "holder"
    for number, future in enumerate(waiting):
        assert not future.done()
        assert holder.release(token)
        token = f"w{number}"
        # The hand-over is in the release itself: no step of anybody's lies in between.
        assert parts.store.get(NAME) == token.encode()
        assert future.result(5)


@pytest.mark.parametrize(
    ("waiter", "opening", "steady"),
    [
        (strange, 5, 3),  # (asked, subscribed,) stood in line, took, released
        (line, 4, 2),  # the same, but its mate has taken the lock for it
    ],
)
def test_the_waiter_waits_in_one_command(
    parts: Parts,
    pool: ThreadPoolExecutor,
    waiter: Callable[[Parts], Line],
    opening: int,
    steady: int,
) -> None:
    """Stand in line: one. Take the lock when called: one. Nothing in between."""
    holder = line(parts)
    holder.acquire("holder", True, None)

    def twice() -> list[Wire]:
        wires = []
        for token in ("first", "second"):
            wires.append(Wire())
            with metered(wires[-1]):
                mine = waiter(parts)
                assert mine.acquire(token, True, 10)
                assert mine.release(token)
            ready.wait(10)
        return wires

    ready = threading.Event()
    future = pool.submit(twice)
    until(lambda: parts.store.llen(LINE) == 1)
    holder.release("holder")
    until(lambda: not parts.store.exists(NAME))
    holder.acquire("holder", True, None)
    ready.set()
    until(lambda: parts.store.llen(LINE) == 1)
    holder.release("holder")
    assert [wire.round_trips for wire in future.result(10)] == [opening, steady]


@pytest.mark.parametrize("reads", [(), ("{apple}:1:stock",)], ids=["plain", "fused"])
def test_64_waiters_send_nothing(
    parts: Parts, pool: ThreadPoolExecutor, reads: Sequence[str]
) -> None:
    holder = line(parts)
    holder.acquire("holder", True, None)
    waiting = [stand(parts, pool, f"w{number}", reads=reads) for number in range(64)]

    def commands() -> int:
        return int(parts.store.info("stats")["total_commands_processed"])

    def sent() -> int:
        """In half a second, without our own INFO."""
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
    assert not parts.store.exists(f"{NAME}:asked"), "who has been served is forgotten"


def test_who_hung_up_is_skipped_at_once(parts: Parts, pool: ThreadPoolExecutor) -> None:
    holder = line(parts)
    holder.acquire("holder", True, None)
    gone = stand_frozen(parts, "gone")
    after = stand(parts, pool, "after")
    gone.pair.deafen()
    channel = orjson.loads(parts.store.lrange(LINE, 0, 0)[0])[2]
    until(lambda: parts.store.pubsub_shardnumsub(channel)[0][1] == 0)
    holder.release("holder")
    assert parts.store.get(NAME) == b"after"
    assert after.result(5)


def test_who_gave_up_has_left_the_line(parts: Parts, pool: ThreadPoolExecutor) -> None:
    holder = line(parts)
    holder.acquire("holder", True, None)
    start = time.monotonic()
    impatient = stand(parts, pool, "impatient", timeout=0.3)
    patient = stand(parts, pool, "patient")
    assert impatient.result(5) is None
    assert 0.25 < time.monotonic() - start < 1.0
    assert parts.store.llen(LINE) == 1
    holder.release("holder")
    assert parts.store.get(NAME) == b"patient"
    assert patient.result(5)


def test_who_does_not_take_the_lock_in_time_is_passed_over(
    parts: Parts, pool: ThreadPoolExecutor
) -> None:
    holder = line(parts)
    holder.acquire("holder", True, None)
    frozen = stand_frozen(parts, "frozen")
    after = stand(parts, pool, "after")
    released = time.monotonic()
    holder.release("holder")
    assert parts.store.get(NAME) == b"frozen"
    grant = after.result(5)
    assert grant
    assert HANDOVER * 0.9 < time.monotonic() - released < 1.0, "not the lease, nor at once"
    assert frozen.keep("frozen", 10.0) is None, "its late acquire is refused"
    assert parts.store.get(NAME) == b"after"


def test_many_frozen_waiters_cost_a_hand_over_each(parts: Parts, pool: ThreadPoolExecutor) -> None:
    holder = line(parts)
    holder.acquire("holder", True, None)
    _connected = [stand_frozen(parts, f"frozen{number}") for number in range(5)]
    after = stand(parts, pool, "after")
    time.sleep(0.3)  # longer in line than PATIENCE: it has asked, and is told when to look
    released = time.monotonic()
    holder.release("holder")
    assert after.result(10)
    assert 5 * HANDOVER * 0.9 < time.monotonic() - released < 3.0


def test_frozen_ones_who_had_asked_cost_a_hand_over_each_too(
    parts: Parts, pool: ThreadPoolExecutor
) -> None:
    """They were told to look whether the first one takes it; one who is awake must be, too."""
    holder = line(parts)
    holder.acquire("holder", True, None)
    frozen = [stand_frozen(parts, f"frozen{number}", asks=True) for number in range(3)]
    after = stand(parts, pool, "after")
    until(lambda: parts.store.sismember(f"{NAME}:asked", "after"))
    released = time.monotonic()
    holder.release("holder")
    assert after.result(20)
    assert len(frozen) * HANDOVER * 0.9 < time.monotonic() - released < 3.0


def test_a_holder_that_died_is_outlived_by_the_first_in_line(
    parts: Parts, pool: ThreadPoolExecutor
) -> None:
    assert line(parts, lease=0.4).acquire("dead", True, None)
    first, second = stand(parts, pool, "first"), stand(parts, pool, "second")
    assert first.result(5)
    assert not second.done()
    line(parts).release("first")
    assert second.result(5)


def test_nobody_jumps_the_line_when_a_lease_has_run_out(parts: Parts) -> None:
    assert line(parts).acquire("dead", True, None)
    _connected = stand_frozen(parts, "first")
    lease_runs_out(parts, NAME)
    assert line(parts).acquire("jumper", False, None) is None
    assert parts.store.get(NAME) == b"first"
