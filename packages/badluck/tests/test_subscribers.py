"""Who listens: messages are told to whom they find listening, in a thread of redis-py's, too."""

from __future__ import annotations

import threading
import time
from typing import Any

import badluck
import pytest

Redis = Any


def listens(redis: Redis) -> None:
    channel = redis.pubsub(ignore_subscribe_messages=True)
    channel.subscribe(news=lambda message: redis.incr("n"))
    thread = channel.run_in_thread(sleep_time=0.1)
    redis.incr("up")
    redis.blpop("stop")
    thread.stop()
    thread.join()


def asks_each_second(redis: Redis) -> None:
    channel = redis.pubsub(ignore_subscribe_messages=True)
    channel.subscribe("news")
    redis.incr("up")
    while not channel.get_message(timeout=1):
        pass
    redis.incr("n")


def asks_for_five_seconds(redis: Redis) -> str:
    channel = redis.pubsub(ignore_subscribe_messages=True)
    channel.subscribe("news")
    redis.incr("up")
    end = time.time() + 5
    while time.time() < end:
        if channel.get_message(timeout=1):
            return "heard"
    return "nothing"


def asks_three_times(redis: Redis) -> str:
    channel = redis.pubsub(ignore_subscribe_messages=True)
    channel.subscribe("news")
    redis.incr("up")
    heard = (channel.get_message(timeout=1) for _ in range(3))
    return "heard" if any(heard) else "nothing"


def publishes(redis: Redis) -> None:
    redis.publish("news", "x")
    redis.lpush("stop", 1)


def publishes_to_who_listens(redis: Redis) -> None:
    while not redis.get("up"):
        time.sleep(0.1)
    publishes(redis)


def publishes_after_a_rest(redis: Redis) -> None:
    redis.incr("begun")
    time.sleep(10)
    redis.publish("news", "x")


def once(redis: Redis) -> bool:
    return bool(redis.get("n") == b"1")


@pytest.mark.parametrize("subscriber", [listens, asks_each_second])
def test_who_listens_before_hears_it_once(subscriber: Any) -> None:
    result = badluck.explore(actors=[subscriber, publishes_to_who_listens], at_end=once)
    result.assert_holds()


@pytest.mark.parametrize(
    ("subscriber", "rule"), [(listens, "broken at the end"), (asks_each_second, "stuck for ever")]
)
def test_a_message_that_nobody_listens_to_is_lost(subscriber: Any, rule: str) -> None:
    [found, *_] = badluck.explore(actors=[subscriber, publishes], at_end=once).report.findings
    assert found.name == rule


@pytest.mark.parametrize("subscriber", [asks_for_five_seconds, asks_three_times])
def test_who_gives_up_may_have_given_up_before(subscriber: Any) -> None:
    def heard(redis: Redis, told: dict[str, Any]) -> bool:
        return bool(told["A"] == "heard")

    [found, *_] = badluck.explore(
        actors=[subscriber, publishes_after_a_rest], at_end=heard
    ).report.findings
    assert found.name == "broken at the end"
    assert badluck.explore(actors=[subscriber, publishes_after_a_rest]).verdict == "holds"


class Counts(threading.Thread):
    def __init__(self, redis: Redis) -> None:
        super().__init__(name="counts", daemon=True)
        self.redis = redis

    def run(self) -> None:
        self.redis.set("n", int(self.redis.get("n") or 0) + 1)


def two_of_a_class(redis: Redis) -> None:
    threads = [Counts(redis), Counts(redis)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def test_two_threads_of_a_class_lose_an_update() -> None:
    def two(redis: Redis) -> bool:
        return bool(redis.get("n") == b"2")

    [found, *_] = badluck.explore(actor=two_of_a_class, count=1, at_end=two).report.findings
    assert found.name == "broken at the end"
