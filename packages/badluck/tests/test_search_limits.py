"""Reasons that end a search early: memory, time, code without an end."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest
import redis
from badluck import explore
from badluck.sandbox import limits

Redis = redis.Redis


def test_what_is_not_looked_at_to_its_end_is_inconclusive() -> None:
    def for_ever(redis: Redis) -> None:
        while redis.incr("n"):
            pass

    result = explore(actor=for_ever, seconds=1)
    assert result.verdict == "inconclusive"
    assert result.proved == []
    result.assert_holds(allow_inconclusive=True)
    with pytest.raises(AssertionError, match="not all was looked at"):
        result.assert_holds()


def writes_on_and_on(redis: Redis, name: str) -> None:
    for at in range(80):
        redis.rpush("l", f"{name}{at}")


def grows_by_a_megabyte(redis: Redis, name: str) -> None:
    for _ in range(20):
        redis.append("l", name * 1_000_000)


def no_line(redis: Redis) -> bool:
    return redis.llen("l") != 160


def test_what_was_found_is_said_before_the_memory_is_full(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "FULL_BYTES", 1 << 24)
    result = explore(actor=writes_on_and_on, at_end=no_line)
    assert (result.verdict, result.report.exhaustive) == ("fails", False)
    assert result.report.seconds < 100, "the memory ended it, and not the time, which is 120 s"


def two_never_end(redis: Redis, name: str) -> None:
    while name == "B" and redis.incr("n"):
        pass


@pytest.mark.parametrize(
    ("actor", "takes"),
    [(grows_by_a_megabyte, "1 GiB of memory"), (two_never_end, "1 s, with all")],
)
def test_a_search_that_takes_too_much_is_inconclusive(
    actor: Callable[..., Any], takes: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two actors reach the limit on any machine; one actor ends long before its own limit."""
    begin: Any = limits.Watchdog.__init__

    def limited(watch: Any, target: Any, *ends: Any) -> None:
        one = len(target.actors) == 1
        begin(watch, target, *ends[:2], 1 if actor is two_never_end and not one else ends[2])

    monkeypatch.setattr(limits.Watchdog, "__init__", limited)
    monkeypatch.setattr(limits, "SHOWING_S", 0)
    monkeypatch.setattr(limits, "FULL_BYTES", 1 << 40)
    result = explore(actor=actor, count=(1, 2))
    assert result.verdict == "inconclusive", result
    assert f"The search takes more than {takes}" in str(result)
    assert "proved: all orders of 1 with no fault" in str(result)


def test_one_that_comes_to_no_end_by_itself_is_called_so() -> None:
    def ticks(redis: Redis) -> None:
        while redis.incr("ticks"):
            time.sleep(60)

    result = explore(actor=ticks, count=1, seconds=1)
    assert "it comes to no end by itself" in str(result)
