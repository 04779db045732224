"""A message reaches the clients that listen when it is published, also in a redis-py thread."""

from __future__ import annotations

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
    ("subscriber", "rule"), [(listens, "broken at the end"), (asks_each_second, "stuck forever")]
)
def test_a_message_that_nobody_listens_to_is_lost(subscriber: Any, rule: str) -> None:
    [found, *_] = badluck.explore(actors=[subscriber, publishes], at_end=once).report.findings
    assert found.name == rule


@pytest.mark.parametrize("subscriber", [asks_for_five_seconds, asks_three_times])
def test_who_gives_up_may_have_given_up_before(subscriber: Any) -> None:
    def heard(redis: Redis, answers: dict[str, Any]) -> bool:
        return bool(answers["A"] == "heard")

    [found, *_] = badluck.explore(
        actors=[subscriber, publishes_after_a_rest], at_end=heard
    ).report.findings
    assert found.name == "broken at the end"
    assert badluck.explore(actors=[subscriber, publishes_after_a_rest]).verdict == "holds"


def raises_a_flag(redis: Redis) -> None:
    redis.set("flag", 1)
    redis.delete("flag")
    publishes(redis)


def adds_by_the_flag(redis: Redis) -> None:
    channel = redis.pubsub(ignore_subscribe_messages=True)
    seen = redis.get("flag")
    one, two = (lambda _: redis.incrby("n", 1)), (lambda _: redis.incrby("n", 2))
    channel.subscribe(news=one if seen else two)
    channel.run_in_thread(sleep_time=0.1)
    redis.blpop("stop")


@pytest.mark.parametrize("added", [b"1", b"2"])
def test_what_a_thread_would_do_is_part_of_where_it_stands(added: bytes) -> None:
    """Only the thread knows which function it will call; the states are the same otherwise."""
    found = badluck.explore(
        actors=[adds_by_the_flag, raises_a_flag], invariant=lambda redis: redis.get("n") != added
    )
    assert found.verdict == "fails"


def reads_by_the_flag(redis: Redis) -> str:
    channel = redis.pubsub()
    channel.subscribe("other")
    if redis.get("flag"):
        channel.get_message()
    redis.blpop("stop")
    return "nothing" if channel.get_message() is None else "subscribed"


def loops_by_the_flag(redis: Redis) -> str:
    channel = redis.pubsub()
    for _ in range(2):
        channel.subscribe("news")
    if redis.get("flag"):
        channel.get_message()
    for heard in channel.listen():
        if redis.incr("k") == 2:
            return str(heard["type"])
    return ""


@pytest.mark.parametrize(
    ("listener", "said"),
    [
        *((reads_by_the_flag, "nothing"), (reads_by_the_flag, "subscribed")),
        *((loops_by_the_flag, "subscribe"), (loops_by_the_flag, "message")),
    ],
)
def test_what_was_told_and_not_handed_on_is_part_of_it_too(listener: Any, said: str) -> None:
    """Also for a loop over the messages."""
    found = badluck.explore(
        actors=[listener, raises_a_flag], at_end=lambda redis, answers: answers["A"] != said
    )
    assert found.verdict == "fails"


def test_a_setup_that_listens_is_told_at_once() -> None:
    """It hears that it has subscribed, and what is published then, on a connection of its own."""

    def listens_to_itself(redis: Redis) -> None:
        channel = redis.pubsub()
        channel.subscribe("news")
        assert channel.get_message()["type"] == "subscribe"
        assert redis.publish("news", "x") == 1
        assert channel.get_message(timeout=1)["data"] == b"x"
        assert channel.get_message() is None
        channel.close()
        assert redis.publish("news", "y") == 0

    badluck.explore(setup=listens_to_itself, actor=publishes, count=2).assert_holds()


@pytest.mark.timeout(20)
def test_a_setup_that_waits_for_what_nobody_says_is_refused() -> None:
    """Time does not pass before the actors begin: the setup would wait without an end."""

    def waits(redis: Redis) -> None:
        channel = redis.pubsub(ignore_subscribe_messages=True)
        channel.subscribe("news")
        while not channel.get_message(timeout=1):
            pass

    with pytest.raises(badluck.BadCode, match=r"waits.*may not wait for anything"):
        badluck.explore(setup=waits, actor=publishes, count=2)
