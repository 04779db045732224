"""Threads of one process: the lock is passed on inside, within bounds, and never gets stuck."""

from __future__ import annotations

import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor

import redis
from fairlock.cohort import Cohort, Held, _cohorts
from fairlock.contender import Contender
from fairlock_waiters import NAME, Late, Sent, counted
from servers.waiting import until

RUNS_ON = ["valkey"]


def contender(client: redis.Redis, cohort: int = 64, lease: float = 10.0) -> Contender:
    made = Contender(client, NAME, lease, cohort=cohort)
    made.passing_s = 0.1 * lease  # tests take their time between two steps
    return made


def there(client: redis.Redis) -> list[Cohort]:
    """Return the cohorts of this test's client."""
    return list(_cohorts.get(client, {}).values())


def follow(pool: ThreadPoolExecutor, mine: Contender, token: str) -> Future[Held | None]:
    cohort = next(iter(_cohorts[mine.queue.client].values()))
    before = len(cohort.followers)
    future = pool.submit(mine.acquire, token, True, 20)
    until(lambda: len(cohort.followers) > before)
    return future


def test_a_pass_asks_the_server_nothing_and_raises_the_fence(
    client: redis.Redis, pool: ThreadPoolExecutor
) -> None:
    mine = contender(client)
    held = mine.acquire("a")
    waiting = follow(pool, mine, "b")
    sent = Sent()
    with counted(sent):
        assert held
        assert mine.release(held)
        assert sent.commands == 0
    passed = waiting.result(5)
    assert passed
    assert passed.fence == held.fence + 1
    assert client.get(NAME) == b"a", "the token is the leader's"
    assert mine.release(passed)
    assert not client.exists(NAME)
    after = mine.acquire("c")
    assert after
    assert after.fence > passed.fence
    mine.release(after)
    assert not there(client)


def test_after_so_many_passes_the_others_have_their_turn(
    client: redis.Redis, pool: ThreadPoolExecutor
) -> None:
    """Another process stands in line (a contender without a cohort counts as one)."""
    mine, other = contender(client, cohort=3), contender(client, cohort=0)
    held = mine.acquire("leader")
    inside = [follow(pool, mine, f"w{number}") for number in range(8)]
    outside = pool.submit(other.acquire, "other", True, 20)
    until(lambda: client.llen(f"{NAME}:line") == 1)
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
    client: redis.Redis, pool: ThreadPoolExecutor
) -> None:
    """The next thread must have nearly a whole lease for its work."""
    mine = contender(client, lease=2)
    held = mine.acquire("a")
    waiting = follow(pool, mine, "b")
    assert held
    until(lambda: time.monotonic() > held.pass_until)
    assert mine.release(held)
    theirs = waiting.result(5)
    assert theirs
    assert theirs.token == "b"
    assert mine.release(theirs)


def test_a_lease_that_has_ended_is_not_passed_on(
    client: redis.Redis, pool: ThreadPoolExecutor
) -> None:
    """The process was frozen while it held the lock, and another client has taken it meanwhile."""
    mine, late = contender(client), Late()
    mine.clock, mine.passing_s = late, 20.0  # longer than the lease, so that its end counts
    held = mine.acquire("a")
    waiting = follow(pool, mine, "b")
    late.by = 11.0
    client.set(NAME, "other")
    assert held
    assert not mine.release(held), "lost"
    assert not waiting.done()
    client.delete(NAME)
    theirs = waiting.result(5)
    assert theirs
    assert theirs.token == "b"
    assert mine.release(theirs)


def test_a_thread_that_died_with_the_lock_blocks_its_process_no_longer_than_the_lease(
    client: redis.Redis, pool: ThreadPoolExecutor
) -> None:
    mine = contender(client, lease=0.3)
    threading.Thread(target=mine.acquire, args=("dead",)).start()
    until(lambda: client.exists(NAME))
    held = mine.acquire("next", True, 10)
    assert held
    assert mine.release(held)
    assert not there(client)


def test_the_late_release_of_a_deposed_leader_changes_nothing(
    client: redis.Redis, pool: ThreadPoolExecutor
) -> None:
    mine = contender(client, lease=1)
    late = mine.acquire("late")
    held = mine.acquire("next", True, 10)
    waiting = follow(pool, mine, "third")
    assert late
    assert held
    assert not mine.release(late), "lost"
    assert not waiting.done()
    assert mine.release(held)
    third = waiting.result(5)
    assert third
    assert mine.release(third)


def test_a_follower_that_left_is_not_called(client: redis.Redis, pool: ThreadPoolExecutor) -> None:
    mine = contender(client)
    held = mine.acquire("a")
    assert mine.acquire("impatient", True, 0.1) is None
    assert mine.acquire("in a hurry", False) is None
    waiting = follow(pool, mine, "b")
    assert held
    mine.release(held)
    passed = waiting.result(5)
    assert passed
    mine.release(passed)


def test_a_leader_that_gave_up_leaves_the_lead(
    client: redis.Redis, pool: ThreadPoolExecutor
) -> None:
    other, mine = contender(client, cohort=0), contender(client)
    theirs = other.acquire("other")
    leader = pool.submit(mine.acquire, "leader", True, 0.3)
    until(lambda: client.llen(f"{NAME}:line") == 1)
    waiting = follow(pool, mine, "b")
    assert leader.result(5) is None
    until(lambda: client.llen(f"{NAME}:line") == 1, said="b leads now")
    assert theirs
    other.release(theirs)
    held = waiting.result(5)
    assert held
    mine.release(held)


def test_a_crowd_of_threads_is_served_one_at_a_time(
    client: redis.Redis, pool: ThreadPoolExecutor
) -> None:
    mine = contender(client)
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
    assert not there(client)
