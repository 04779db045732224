"""Code that polls until a moment comes."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import pytest
from badluck import explore
from redis import Redis

LEASE = 3  # s


def taken(redis: Redis, name: str) -> bool:
    return bool(redis.set("lock", name, nx=True, ex=LEASE))


def waits_for_two_seconds(lease: float) -> Callable[[Redis], str]:
    def actor(redis: Redis) -> str:
        lock = redis.lock("lock", timeout=lease, blocking_timeout=1.9)
        if not lock.acquire():
            return "gave up"
        redis.incr("n")
        lock.release()
        return "worked"

    return actor


def nobody_gave_up(_: Redis, answers: Mapping[str, Any]) -> bool:
    return "gave up" not in answers.values()


@pytest.mark.parametrize(("lease", "verdict"), [(3, "fails"), (1, "holds")])
def test_who_waits_for_less_than_the_lease_of_one_that_crashed_gives_up(
    lease: float, verdict: str
) -> None:
    actor = waits_for_two_seconds(lease)
    result = explore(actor=actor, count=2, at_end=nobody_gave_up, faults="crash=1")
    assert result.verdict == verdict, result
    if verdict == "fails":
        (one,) = result.report.findings
        assert 1800 <= one.trace[-1].at <= 1900  # ms; redis-py gives up before its last 0.1 s


def tries_each_second(times: int) -> Callable[[Redis, str], str]:
    def actor(redis: Redis, name: str) -> str:
        for _ in range(times):
            if taken(redis, name):
                return "worked"
            time.sleep(1)
        return "gave up"

    return actor


@pytest.mark.parametrize(("times", "verdict"), [(LEASE, "fails"), (LEASE + 2, "holds")])
def test_who_counts_its_tries_sleeps_between_them(times: int, verdict: str) -> None:
    result = explore(actor=tries_each_second(times), count=2, at_end=nobody_gave_up)
    assert result.verdict == verdict, result


def polls_for_a_day(redis: Redis) -> str:
    while not redis.set("lock", "me", nx=True, ex=86_400):
        time.sleep(1)
    return "has it"


def test_a_poll_of_a_lease_of_a_day_is_a_handful_of_states() -> None:
    result = explore(actor=polls_for_a_day, count=2, faults="crash=1")
    assert result.verdict == "holds", result
    assert result.report.states < 60


def test_redis_pys_lock_may_sleep_as_long_as_it_likes_between_its_tries() -> None:
    def locks(redis: Redis) -> None:
        with redis.lock("lock", timeout=10, sleep=4):
            redis.set("n", int(redis.get("n") or 0) + 1)

    def both(redis: Redis) -> bool:
        return redis.get("n") == b"2"

    assert explore(actor=locks, count=2, at_end=both).verdict == "holds"
    assert explore(actor=locks, count=2, faults="crash=1").verdict == "holds"


def delays_a_job(redis: Redis) -> None:
    redis.zadd("delayed", {"job": time.time() + 10})


@pytest.mark.parametrize("pause", [0.1, 1])
def test_who_asks_by_the_clock_does_not_miss_what_is_due(pause: float) -> None:
    def waits(redis: Redis) -> str:
        until = time.time() + 30
        while time.time() < until:
            if redis.zrangebyscore("delayed", 0, time.time()):
                return "has it"
            time.sleep(pause)
        return "gave up"

    result = explore(actor=waits, count=1, setup=delays_a_job, at_end=nobody_gave_up)
    assert result.verdict == "holds", result


def holds_for_three_seconds(redis: Redis) -> None:
    redis.set("lock", "me", ex=5)
    time.sleep(3)
    redis.delete("lock")


def test_who_writes_each_time_it_asks_sleeps_in_between() -> None:
    def waits(redis: Redis) -> None:
        while redis.exists("lock"):
            redis.incr("waited")
            time.sleep(1)

    def few(redis: Redis) -> bool:
        return int(redis.get("waited") or 0) <= 6

    result = explore(actors=[holds_for_three_seconds, waits], invariant=few)
    assert result.verdict == "holds", result


def test_two_that_back_off_from_each_other_by_a_sleep_do_so_again_and_again() -> None:
    def takes_both(redis: Redis, name: str) -> None:
        one, other = ("a", "b") if name == "A" else ("b", "a")
        while not (redis.setnx(one, name) and redis.setnx(other, name)):
            if redis.get(one) == name.encode():
                redis.delete(one)
            time.sleep(0.3)
        redis.incr("n")
        redis.delete(one, other)

    result = explore(actor=takes_both, at_end=lambda redis: redis.get("n") == b"2")
    assert result.verdict == "holds", result
    assert result.report.states < 200


@pytest.mark.parametrize(("looks", "verdict"), [(True, "holds"), (False, "fails")])
def test_who_polls_what_is_due_asks_otherwise_each_time_and_in_vain(
    looks: bool, verdict: str
) -> None:
    def prepare(redis: Redis) -> None:
        redis.zadd("later", {"mail": time.time() + 1800})

    def poll(redis: Redis) -> None:
        while redis.zcard("later"):
            if not redis.zcount("later", "-inf", time.time()):
                time.sleep(1)
            elif redis.zrem("later", "mail") or not looks:
                redis.rpush("sent", "mail")

    result = explore(setup=prepare, actor=poll, at_end=lambda redis: redis.llen("sent") == 1)
    assert result.verdict == verdict, result
    assert result.report.states < 200


def asks_until(clock: Callable[[], float], between: float, redis: Redis) -> str:
    end = clock() + 3
    while clock() < end:
        if redis.exists("question") and redis.get("answer"):
            return "has it"
        time.sleep(between)
    return "gave up"


@pytest.mark.parametrize("between", [0.5, 0.05])
@pytest.mark.parametrize("clock", [time.monotonic, time.time])
def test_who_polls_until_a_deadline_may_give_up_before_the_other_begins(
    clock: Callable[[], float], between: float
) -> None:
    def answers(redis: Redis) -> None:
        redis.set("answer", "42")

    polls = partial(asks_until, clock, between)

    def asks(redis: Redis) -> None:
        redis.set("question", "?")

    result = explore(setup=asks, actors=[answers, polls], at_end=nobody_gave_up)
    assert "BROKEN AT THE END, with no fault" in str(result)
    assert result.report.states < 100


def test_nobody_is_slow_again_and_again_without_a_pause() -> None:
    def begins(redis: Redis) -> None:
        redis.set("started", 1)
        time.sleep(1)
        redis.set("result", 1)

    def waits(redis: Redis) -> str:
        if not redis.exists("started"):
            return "nothing to wait for"
        for _ in range(10):
            if redis.get("result"):
                return "has it"
            time.sleep(1)
        return "gave up"

    result = explore(actors=[begins, waits], at_end=nobody_gave_up)
    assert result.verdict == "holds", result
    paused = explore(actors=[begins, waits], at_end=nobody_gave_up, faults="crash=1")
    assert paused.verdict == "fails"
