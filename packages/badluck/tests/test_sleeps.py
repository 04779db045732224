"""Code that takes time by itself: sleeps, and waits that end by the clock."""

from __future__ import annotations

import asyncio
import sched
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest
from badluck import explore
from badluck.functions.result import ExploreResult
from redis import Redis

LEASE = 3  # s


def taken(redis: Redis, name: str) -> bool:
    return bool(redis.set("lock", name, nx=True, ex=LEASE))


def works(redis: Redis, name: str, *sleeps: Callable[[], object]) -> None:
    if taken(redis, name):
        for sleeps_once in sleeps:
            sleeps_once()
        redis.incr("worked")


def longer_than_its_lease(redis: Redis, name: str) -> None:
    works(redis, name, lambda: time.sleep(LEASE + 2))


def just_as_long_as_its_lease(redis: Redis, name: str) -> None:
    works(redis, name, lambda: time.sleep(LEASE))


def several_times(redis: Redis, name: str) -> None:
    works(redis, name, *[lambda: time.sleep(1)] * 4)


def waits_for_nobody(redis: Redis, name: str) -> None:
    works(redis, name, lambda: threading.Event().wait(LEASE + 2))


async def later(redis: Any, name: str) -> None:
    if await redis.set("lock", name, nx=True, ex=LEASE):
        await asyncio.sleep(LEASE + 2)
        await redis.incr("worked")


def well_within_its_lease(redis: Redis, name: str) -> None:
    works(redis, name, lambda: time.sleep(LEASE - 1))


def found(result: ExploreResult) -> list[tuple[str, int, int]]:
    return [(one.name, one.cost.faults, one.cost.steps) for one in result.report.findings]


@pytest.mark.parametrize(
    "actor",
    [longer_than_its_lease, just_as_long_as_its_lease, several_times, waits_for_nobody, later],
)
def test_a_lease_runs_out_during_its_holders_own_sleep(actor: Callable[..., Any]) -> None:
    result = explore(actor=actor, count=2, lock="lock")
    name, faults, _ = found(result)[0]
    assert (name, faults) == ("two holders", 0), result
    assert result.report.exhaustive


def test_who_sleeps_well_within_its_lease_is_alone_but_for_a_pause() -> None:
    assert explore(actor=well_within_its_lease, count=2, lock="lock").verdict == "holds"
    result = explore(actor=well_within_its_lease, count=2, lock="lock", faults="pause=1")
    assert found(result)[0][:2] == ("two holders", 1)


def test_others_come_in_between_while_somebody_sleeps() -> None:
    def counts(redis: Redis) -> None:
        count = int(redis.get("n") or 0)
        time.sleep(1)
        redis.set("n", count + 1)

    result = explore(actor=counts, count=2, at_end=lambda redis: int(redis.get("n")) == 2)
    assert found(result)[0][:2] == ("broken at the end", 0)


TAKE_A_JOB = """
local job = redis.call('ZRANGEBYSCORE', KEYS[1], 0, ARGV[1], 'LIMIT', 0, 1)[1]
if job then redis.call('ZADD', KEYS[1], ARGV[1] + 30, job) end
return job
"""  # for thirty seconds no other worker sees it


def takes_a_job(redis: Redis) -> None:
    if job := redis.eval(TAKE_A_JOB, 1, "jobs", str(time.time())):
        redis.rpush("done", job)


@pytest.mark.parametrize(("faults", "verdict"), [("crash=1", "holds"), ("pause=1", "fails")])
def test_a_visibility_timeout_passes_before_the_other_has_looked_at_the_clock(
    faults: str, verdict: str
) -> None:
    def setup(redis: Redis) -> None:
        redis.zadd("jobs", {"job": 0})

    def once(redis: Redis) -> bool:
        return redis.llen("done") <= 1

    result = explore(actor=takes_a_job, count=2, setup=setup, at_end=once, faults=faults)
    assert result.verdict == verdict, result


def one_a_second(redis: Redis, name: str) -> None:
    now = time.time()
    redis.zremrangebyscore("requests", 0, now - 1)
    if redis.zcard("requests"):
        time.sleep(1)
        one_a_second(redis, name)
    else:
        redis.zadd("requests", {name: now})


def test_who_calls_itself_after_each_sleep_comes_to_an_end() -> None:
    assert explore(actor=one_a_second, count=2).verdict == "holds"


def test_sleeps_of_days_come_to_their_end() -> None:
    def sleeps(redis: Redis) -> None:
        for day in range(20):
            redis.set("day", day, ex=86_400)
            time.sleep(2 * 86_400)

    result = explore(actor=sleeps, count=1, at_end=lambda redis: not redis.exists("day"))
    assert result.verdict == "holds", result


def test_who_only_sleeps_waits_for_ever() -> None:
    def sleeps(redis: Redis) -> None:
        redis.get("n")
        while True:
            time.sleep(60)

    result = explore(actor=sleeps, count=2)
    (one,) = result.report.findings
    assert one.name == "stuck forever"
    assert "time.sleep(60)" in one.explanation or "waits in" in one.explanation


def test_who_sleeps_until_a_moment_sees_it_come() -> None:
    def sleeps(redis: Redis) -> float:
        began = time.time()
        redis.set("lock", "me", ex=LEASE)
        time.sleep(5)
        slept = time.time() - began
        if slept < 5:
            raise ValueError(f"slept for {slept} s only")
        redis.incr("n")
        return 0

    result = explore(actor=sleeps, count=2)
    assert result.verdict == "holds", result


def in_a_thread(redis: Redis, name: str) -> None:
    thread = threading.Thread(target=longer_than_its_lease, args=(redis, name))
    thread.start()
    thread.join()


def by_the_clock(redis: Redis, name: str) -> None:
    def sleeps() -> None:
        until = time.monotonic() + LEASE + 2
        while time.monotonic() < until:
            time.sleep(1)

    works(redis, name, sleeps)


def until_somebody_pushes(redis: Redis, name: str) -> None:
    works(redis, name, lambda: redis.blpop("jobs", timeout=LEASE + 2))


def with_a_timer(redis: Redis, name: str) -> None:
    def sleeps() -> None:
        timer = threading.Timer(LEASE + 2, redis.incr, ["n"])
        timer.start()
        timer.join()

    works(redis, name, sleeps)


def by_a_scheduler(redis: Redis, name: str) -> None:
    def sleeps() -> None:
        scheduler = sched.scheduler()
        scheduler.enter(LEASE + 2, 1, redis.incr, ("n",))
        scheduler.run()

    works(redis, name, sleeps)


async def under_a_timeout(redis: Any, name: str) -> None:
    if await redis.set("lock", name, nx=True, ex=LEASE):
        async with asyncio.timeout(10):
            await asyncio.sleep(LEASE + 2)
        await redis.incr("worked")


async def gathers(redis: Any, name: str) -> None:
    if await redis.set("lock", name, nx=True, ex=LEASE):
        await asyncio.gather(asyncio.sleep(LEASE + 2), asyncio.sleep(1))
        await redis.incr("worked")


@pytest.mark.parametrize(
    "actor",
    [
        in_a_thread,
        by_the_clock,
        until_somebody_pushes,
        with_a_timer,
        by_a_scheduler,
        under_a_timeout,
        gathers,
    ],
)
def test_in_whatever_way_it_waits(actor: Callable[..., Any]) -> None:
    result = explore(actor=actor, count=2, lock="lock")
    assert found(result)[0][:2] == ("two holders", 0), result
    assert result.report.exhaustive


def test_a_time_of_day_comes() -> None:
    def at_five(redis: Redis) -> None:
        redis.get("x")
        while int(time.time()) % 10 != 5:
            time.sleep(1)
        redis.incr("n")

    assert explore(actor=at_five, count=1).verdict == "holds"


def test_short_sleeps_that_wait_for_the_clock_only_add_up() -> None:
    def sleeps(redis: Redis) -> None:
        redis.get("x")
        end = time.monotonic() + 2
        while (left := end - time.monotonic()) > 0:
            time.sleep(min(left, 0.05))
        redis.incr("n")

    assert explore(actor=sleeps, count=1).verdict == "holds"


def test_a_sleep_of_less_than_nothing_is_an_error() -> None:
    def is_late(redis: Redis) -> None:
        due = time.monotonic() + 2
        redis.incr("n")
        time.sleep(3)
        time.sleep(due - time.monotonic())

    (one,) = explore(actor=is_late, count=1).report.findings
    assert one.name == "exception"


def test_what_is_the_same_again_only_later_is_later_in_the_schedule() -> None:
    def slow(redis: Redis) -> None:
        if redis.get("x"):
            redis.ping()
            time.sleep(1)
        else:  # one step less, and the same state afterwards
            time.sleep(2)
        redis.set("y", 1)

    def sets(redis: Redis) -> None:
        redis.set("x", 1)
        redis.get("x")

    (one,) = explore(actors=[slow, sets], at_end=lambda redis: False).report.findings
    assert [step.at for step in one.trace] == [0, 0, 0, 2001, 2001, 2001]
    assert [step.lines for step in one.trace if step.does == "time"] == [["2.0 s"]]


def test_a_heartbeat_that_expires_is_the_same_again() -> None:
    def beats(redis: Redis) -> None:
        while not redis.exists("stop"):
            redis.set("beat", 1, ex=5)
            time.sleep(1)

    result = explore(actors=[beats, lambda redis: redis.set("stop", 1)])
    assert result.verdict == "holds", result
    assert result.report.states < 50
