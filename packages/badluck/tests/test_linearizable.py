"""Answers that a plain function could have given, and ones that none could."""

from __future__ import annotations

from ast import literal_eval
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
import redis
from badluck import BadCode, explore
from badluck.invariants import linearizable
from test_invariants import names

Redis = redis.Redis


def one_apple(redis: Redis) -> None:
    redis.set("left", 1)


def buys_unseen(redis: Redis) -> bool:
    if int(redis.get("left") or 0) < 1:
        return False
    redis.decr("left")
    return True


def buys(redis: Redis) -> bool:
    if redis.decr("left") >= 0:
        return True
    redis.incr("left")
    return False


def plain_buys(left: int) -> tuple[bool, int]:
    return left > 0, left - (left > 0)


def test_linearizable_against_a_plain_function() -> None:
    as_plain = linearizable(plain_buys, start=1)
    assert names(explore(setup=one_apple, actor=buys_unseen, count=2, invariant=as_plain)) == [
        "invariant broken"
    ]
    explore(
        setup=one_apple, actor=buys, count=2, invariant=as_plain, faults="crash=1,lost=1,late=1"
    ).assert_holds()


def test_two_that_could_have_had_it_and_none_did() -> None:
    """A's DECR by 2 is undone later: B may get no meanwhile, though one apple is left.

    Both orders give the same answers and leave the same keys; only the times differ.
    """

    def two(redis: Redis) -> bool:
        if redis.decrby("left", 2) >= 0:
            return True
        redis.incrby("left", 2)
        return False

    def plain_two(left: int) -> tuple[bool, int]:
        return left > 1, left - 2 * (left > 1)

    result = explore(
        setup=one_apple, actors=[two, buys], invariant=linearizable([plain_two, plain_buys], 1)
    )
    assert names(result) == ["invariant broken"]


def writes(redis: Redis) -> None:
    redis.set("value", "new")


def reads_a_copy(redis: Redis) -> Any:
    """Like a cache that was not updated."""
    return redis.get("copy")


def reads(redis: Redis) -> Any:
    return redis.get("value")


def plain_writes(_: object) -> tuple[object, bytes]:
    return None, b"new"


def plain_reads(value: bytes) -> tuple[object, bytes]:
    return value, value


@pytest.mark.parametrize(("read", "verdict"), [(reads_a_copy, "fails"), (reads, "holds")])
def test_who_begins_after_an_answer_comes_after_it(
    read: Callable[[Redis], Any], verdict: str
) -> None:
    """An old value may be read during a write, but not by an actor that begins after it.

    Both orders give the same answers and leave the same keys; only the times differ.
    """
    result = explore(
        setup=lambda redis: redis.mset({"value": "old", "copy": "old"}),
        actors=[writes, read],
        invariant=linearizable([plain_writes, plain_reads], b"old"),
    )
    assert result.verdict == verdict
    if verdict == "fails":
        trace = result.report.findings[0].trace
        assert [step.actor for step in trace] == ["A"] * 3 + ["B"] * 3
        assert trace[2].lines + trace[3].lines == ["answers None", "begins"]
        told = "In no order of the calls are they told: A None, B b'old'."
        assert told in result.report.findings[0].explanation
        assert list(trace[0].shown) == ["copy", "value"]


def is_told(said: object) -> Callable[[Redis], object]:
    text = repr(said)  # no list that actors would share
    return lambda redis: literal_eval(text) if redis.get("n") is None else None


@pytest.mark.parametrize(
    ("told", "plainly"),
    [(True, 1), (1, 1.0), ((True, "x"), (1, "x")), ([[0]], [[False]]), ({"n": 1}, {"n": True})],
)
def test_answers_are_the_same_by_type_as_well(told: object, plainly: object) -> None:
    for said, verdict in ((plainly, "fails"), (told, "holds")):
        as_plain = linearizable(partial(lambda said, state: (said, state), said))
        assert explore(actor=is_told(told), count=1, invariant=as_plain).verdict == verdict


def test_what_no_plain_function_could_answer_is_refused() -> None:
    with pytest.raises(BadCode, match="TypeError"):
        explore(actor=buys, setup=one_apple, count=2, invariant=linearizable(lambda left: left, 1))
    with pytest.raises(BadCode, match="answers <object>"):
        explore(actor=lambda redis: object(), count=2, invariant=linearizable(plain_buys, 1))
