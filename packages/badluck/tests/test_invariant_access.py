"""An invariant's questions to the servers, and the answers that it may give."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import redis
from badluck import BadCode, explore

Redis = redis.Redis


def count_up_at_once(redis: Redis) -> Any:
    return redis.incr("n")


@pytest.mark.parametrize(
    ("invariant", "said"),
    [
        (lambda redis: redis.incr("n") == 1, "may only read"),
        (lambda redis: redis.get("n"), "answers None, and not True or False"),
        (lambda redis: int(redis.get("n")) == 1, "TypeError: int"),
        (lambda redis, answers: answers["A"] > 0, "A has not answered: it is at work, has crashed"),
        (lambda redis: redis.ttl("lives") > 5, "whether a key expires is to be seen"),
        (lambda redis: redis.ttl("lives") + 1 > 0, "unsupported operand"),
        (lambda redis: redis.expiretime("lives") > 0, "at no clock"),
        (lambda redis: bool(redis.eval("return redis.call('pttl', 'lives')", 0)), "still lives"),
        (lambda redis: bool(redis.eval("return redis.call('time')", 0)), "at no clock"),
        (lambda redis: redis.hexpiretime("h", "of") is not None, "is not supported"),
    ],
)
def test_what_an_invariant_may_not(invariant: Callable[..., Any], said: str) -> None:
    with pytest.raises(BadCode, match=said):
        explore(
            actor=count_up_at_once,
            setup=lambda redis: redis.set("lives", 1, ex=9),
            invariant=invariant,
        )


def test_an_invariant_may_ask_whether_a_field_expires() -> None:
    def remembers(redis: Redis) -> None:
        redis.hset("h", "of", 1)
        redis.hexpire("h", 60, "of")

    def expires(redis: Redis) -> bool:
        return redis.httl("h", "of") != [-1] and redis.hpttl("h", "of") > [0]

    assert explore(actor=remembers, at_end=expires).verdict == "holds"
    found = explore(actor=remembers, count=1, at_end=expires, faults="crash=1")
    assert found.verdict == "fails"
    with pytest.raises(BadCode, match="whether a key expires is to be seen"):
        explore(actor=remembers, at_end=lambda redis: redis.httl("h", "of") == [60])


def test_an_invariant_may_ask_whether_a_key_expires() -> None:
    """A limiter's INCR and EXPIRE in two steps, and a crash in between."""

    def limited(redis: Redis) -> None:
        if redis.incr("n") == 1:
            redis.expire("n", 60)

    def expires(redis: Redis) -> bool:
        left = redis.ttl("n")
        assert left != -1, "for ever"
        return left == -2 or (left > 0 and not left <= -1)

    assert explore(actor=limited, count=2, at_end=expires).verdict == "holds"
    found = explore(actor=limited, count=2, at_end=expires, faults="crash=1")
    assert found.verdict == "fails"
    assert "for ever" in str(found)


def test_an_invariant_may_answer_as_redis_does() -> None:
    def there(redis: Redis) -> int:
        return redis.exists("n")

    assert explore(actor=count_up_at_once, count=2, at_end=there).verdict == "holds"
