"""Threads of one process: the lock is passed on inside, within bounds, and never gets stuck."""

from __future__ import annotations

import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor

import pytest

from app.bootstrap import Parts
from app.domain import Clock
from app.locks.queue.cohort import Cohort, Held, _cohorts
from app.locks.queue.contender import Contender
from app.store.redis import Wire, metered
from tests.servers import until

RUNS_ON = ["valkey"]

NAME = "{apple}:1:lock"


class Late(Clock):
    """As if this process had been frozen for `by` s."""

    by = 0.0

    def now(self) -> float:
        return super().now() + self.by


def contender(parts: Parts, cohort: int = 64, lease: float = 10.0) -> Contender:
    made = Contender(parts.store, Clock(), NAME, lease, cohort)
    made.passing = 0.1 * lease  # tests take their time between two steps
    return made


def there(parts: Parts) -> list[Cohort]:
    """The cohorts of this test's client."""
    return list(_cohorts.get(parts.store, {}).values())


def sit(pool: ThreadPoolExecutor, mine: Contender, token: str) -> Future[Held | None]:
    cohort = next(iter(_cohorts[mine.line.client].values()))
    before = len(cohort.seats)
    future = pool.submit(mine.acquire, token, True, 20)
    until(lambda: len(cohort.seats) > before)
    return future


def test_a_pass_asks_the_server_nothing_and_raises_the_fence(
    parts: Parts, pool: ThreadPoolExecutor
) -> None:
    mine = contender(parts)
    held = mine.acquire("a")
    waiting = sit(pool, mine, "b")
    wire = Wire()
    with metered(wire):
        assert held
        assert mine.release(held)
        assert wire.round_trips == 0
    passed = waiting.result(5)
    assert passed
    assert passed.fence == held.fence + 1
    assert parts.store.get(NAME) == b"a", "the token is the leader's"
    assert mine.release(passed)
    assert not parts.store.exists(NAME)
    after = mine.acquire("c")
    assert after
    assert after.fence > passed.fence
    mine.release(after)
    assert not there(parts)


def test_after_so_many_passes_the_others_have_their_turn(
    parts: Parts, pool: ThreadPoolExecutor
) -> None:
    """Another process stands in line (a contender without a cohort is as good as one)."""
    mine, other = contender(parts, cohort=3), contender(parts, cohort=0)
    held = mine.acquire("leader")
    inside = [sit(pool, mine, f"w{number}") for number in range(8)]
    outside = pool.submit(other.acquire, "other", True, 20)
    until(lambda: parts.store.llen(f"{NAME}:line") == 1)
    for future in inside[:3]:
        assert held
        mine.release(held)
        held = future.result(5)
        assert not outside.done()
    assert held
    mine.release(held)
    theirs = outside.result(5)
    assert theirs
    assert not any(future.done() for future in inside[3:])
    other.release(theirs)
    for future in inside[3:]:
        held = future.result(5)
        assert held
        mine.release(held)


def test_after_a_tenth_of_the_lease_it_is_not_passed_on(
    parts: Parts, pool: ThreadPoolExecutor
) -> None:
    """Who gets it shall have nearly a whole lease for its work."""
    mine = contender(parts, lease=2)
    held = mine.acquire("a")
    waiting = sit(pool, mine, "b")
    assert held
    until(lambda: time.monotonic() > held.pass_until)
    assert mine.release(held)
    theirs = waiting.result(5)
    assert theirs
    assert theirs.token == "b"
    assert mine.release(theirs)


def test_a_lease_that_has_ended_is_not_passed_on(parts: Parts, pool: ThreadPoolExecutor) -> None:
    """The process was frozen when it had the lock, and another has come meanwhile."""
    mine, late = contender(parts), Late()
    mine.clock, mine.passing = late, 20.0  # longer than the lease: that it has ended must count
    held = mine.acquire("a")
    waiting = sit(pool, mine, "b")
    late.by = 11.0
    parts.store.set(NAME, "other")
    assert held
    assert not mine.release(held), "lost"
    assert not waiting.done()
    parts.store.delete(NAME)
    theirs = waiting.result(5)
    assert theirs
    assert theirs.token == "b"
    assert mine.release(theirs)


@pytest.mark.timed
def test_a_thread_that_died_with_the_lock_blocks_its_process_no_longer_than_the_lease(
    parts: Parts, pool: ThreadPoolExecutor
) -> None:
    mine = contender(parts, lease=0.3)
    threading.Thread(target=mine.acquire, args=("dead",)).start()
    until(lambda: parts.store.exists(NAME))
    start = time.monotonic()
    held = mine.acquire("next", True, 10)
    assert held
    assert time.monotonic() - start < 2.0
    assert mine.release(held)
    assert not there(parts)


def test_the_late_release_of_a_deposed_leader_disturbs_nobody(
    parts: Parts, pool: ThreadPoolExecutor
) -> None:
    mine = contender(parts, lease=1)
    late = mine.acquire("late")
    held = mine.acquire("next", True, 10)
    waiting = sit(pool, mine, "third")
    assert late
    assert held
    assert not mine.release(late), "lost"
    assert not waiting.done()
    assert mine.release(held)
    third = waiting.result(5)
    assert third
    assert mine.release(third)


def test_who_gets_up_is_not_called(parts: Parts, pool: ThreadPoolExecutor) -> None:
    mine = contender(parts)
    held = mine.acquire("a")
    assert mine.acquire("impatient", True, 0.1) is None
    assert mine.acquire("in a hurry", False) is None
    waiting = sit(pool, mine, "b")
    assert held
    mine.release(held)
    passed = waiting.result(5)
    assert passed
    mine.release(passed)


def test_a_leader_that_gave_up_leaves_the_lead(parts: Parts, pool: ThreadPoolExecutor) -> None:
    other, mine = contender(parts, cohort=0), contender(parts)
    theirs = other.acquire("other")
    leader = pool.submit(mine.acquire, "leader", True, 0.3)
    until(lambda: parts.store.llen(f"{NAME}:line") == 1)
    waiting = sit(pool, mine, "b")
    assert leader.result(5) is None
    until(lambda: parts.store.llen(f"{NAME}:line") == 1, said="b leads now")
    assert theirs
    other.release(theirs)
    held = waiting.result(5)
    assert held
    mine.release(held)


def test_a_crowd_of_threads_is_served_one_at_a_time(parts: Parts, pool: ThreadPoolExecutor) -> None:
    mine = contender(parts)
    inside: list[int] = []
    fences: list[int] = []

    def work(number: int) -> None:
        for turn in range(20):
            held = mine.acquire(f"{number}.{turn}", True, 20)
            assert held
            inside.append(number)
            assert inside == [number]
            fences.append(held.fence)
            inside.remove(number)
            assert mine.release(held)

    for future in [pool.submit(work, number) for number in range(16)]:
        future.result(30)
    assert len(fences) == 320
    assert fences == sorted(set(fences))
    assert not there(parts)
