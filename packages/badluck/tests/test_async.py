"""Actors that are `async def` get the same verdicts, in as many steps, as plain functions."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from badluck import BadCode, Explorer, Faults, Program, explore, explore_apart
from badluck.functions.result import ExploreResult
from later import (
    counts,
    counts_later,
    gathers,
    gathers_in_turn,
    gathers_watching,
    groups,
    in_threads,
    locks,
    locks_later,
    polls,
    polls_later,
    watches,
    watches_later,
)
from redis import Redis


def counted_twice(redis: Redis) -> bool:
    return int(redis.get("n") or 0) == 2


def found(result: ExploreResult) -> list[tuple[str, int, int]]:
    return [(one.name, one.cost.faults, one.cost.steps) for one in result.report.findings]


@pytest.mark.parametrize(
    ("now", "later", "many", "faults", "verdict"),
    [
        (counts, counts_later, 2, "none", "fails"),
        (watches, watches_later, 2, "pause=1", "holds"),
        (watches, watches_later, 2, "lost=1", "fails"),
        (locks, locks_later, 2, "none", "holds"),
        (locks, locks_later, 2, "pause=1", "fails"),
        (polls, polls_later, 2, "none", "holds"),
        (polls, polls_later, 2, "crash=1", "fails"),
        (in_threads, gathers, 1, "none", "fails"),
        (in_threads, groups, 1, "none", "fails"),
    ],
)
def test_the_same_is_found_of_a_function_and_of_its_twin(
    now: Callable[..., Any], later: Callable[..., Any], many: int, faults: str, verdict: str
) -> None:
    one, other = (
        explore(actor=actor, count=many, at_end=counted_twice, faults=faults)
        for actor in (now, later)
    )
    assert one.verdict == other.verdict == verdict, other
    assert found(one) == found(other)


@pytest.mark.parametrize("sound", [gathers_in_turn, gathers_watching])
def test_tasks_that_are_sound_hold(sound: Callable[..., Any]) -> None:
    explore(actors=[sound], at_end=counted_twice).assert_holds()


def test_who_has_given_up_may_have_been_heard() -> None:
    async def tries_again(redis: Any) -> None:
        try:
            await asyncio.wait_for(redis.incr("n"), 5)
        except TimeoutError:
            await redis.incr("n")

    result = explore(
        actors=[tries_again], at_end=lambda redis: int(redis.get("n")) == 1, faults="pause=1"
    )
    assert result.verdict == "fails"
    assert [rung.faults for rung in result.proved] == [Faults()]


def test_a_reply_may_come_after_one_that_was_given_later() -> None:
    async def races(redis: Any) -> Any:
        first, _ = await asyncio.wait(
            [asyncio.create_task(redis.incr("n")) for _ in range(2)],
            return_when=asyncio.FIRST_COMPLETED,
        )
        return next(iter(first)).result()

    result = explore(actors=[races], at_end=lambda redis, answers: answers["A"] == 1)
    assert result.verdict == "fails"


def test_sleeps_come_in_their_order() -> None:
    async def sleeps(redis: Any) -> str:
        async def later(seconds: float, word: str) -> None:
            await asyncio.sleep(seconds)
            await redis.append("n", word)

        await asyncio.gather(later(20, "b"), later(10, "a"), asyncio.sleep(1))
        async with asyncio.timeout(5):
            await asyncio.sleep(3)
        try:
            async with asyncio.timeout(3):
                await asyncio.sleep(5)
        except TimeoutError:
            await redis.append("n", "c")
        return "slept"

    explore(
        actors=[sleeps],
        at_end=lambda redis, answers: answers == {"A": "slept"} and redis.get("n") == b"abc",
    ).assert_holds()


def test_an_error_in_a_task_is_found_with_its_line() -> None:
    async def fails(redis: Any) -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(redis.get("n"))
        assert await redis.get("n")

    (finding,) = explore(actors=[fails]).report.findings
    assert finding.name == "exception"
    assert "in fails: AssertionError" in finding.trace[-1].outcome


def test_one_that_waits_for_ever() -> None:
    async def waits(redis: Any) -> None:
        await redis.get("n")
        await asyncio.Event().wait()

    (finding,) = explore(actors=[waits]).report.findings
    assert finding.name == "stuck forever"


async def _answers(redis: Any) -> None:
    """Nothing yet."""


async def _subscribes(redis: Any) -> None:
    await redis.pubsub().subscribe("news")


async def _hands_on(redis: Any) -> None:
    await asyncio.to_thread(print)


async def _shares(redis: Any) -> None:
    async with redis.pipeline() as pipe:
        await asyncio.gather(pipe.watch("a"), pipe.watch("b"))


async def _spins(redis: Any) -> None:
    asking = asyncio.create_task(redis.get("n"))
    while not asking.done():
        await asyncio.sleep(0)


async def _asks_what_is_lacking(redis: Any) -> None:
    await redis.execute_command("GEOADD", "n", 1, 2, "here")


async def _yields(redis: Any) -> Any:
    yield


@pytest.mark.parametrize(
    ("actor", "said"),
    [
        (lambda redis: _answers(redis), "write `async def <lambda>`"),
        (_yields, "_yields must be a function without yield"),
        (_subscribes, "in _subscribes: subscribes with redis.asyncio, which is not supported"),
        (_hands_on, r"in _hands_on: .*asyncio\.to_thread"),
        (_shares, "uses a connection in two tasks at once"),
        (_spins, "goes round and round while it waits for an answer"),
        (_asks_what_is_lacking, "in _asks_what_is_lacking: GEOADD is not supported"),
    ],
)
def test_what_is_refused_is_said(actor: Callable[..., Any], said: str) -> None:
    with pytest.raises(BadCode, match=said):
        explore(actors=[actor])


def test_who_looks_does_not_wait() -> None:
    with pytest.raises(BadCode, match="_answers must be a plain function"):
        explore(actors=[counts], invariant=_answers)


IN_A_FILE = """
import asyncio

async def run(redis, name):
    left = int(await redis.get("stock"))
    await redis.set("stock", left - 1)
"""
OLD = """
import asyncio

async def main(redis):
    redis.decr("stock")
    await asyncio.sleep(0.1)
    return asyncio.current_task().get_name()

def run(redis, name):
    asyncio.run(main(redis))
    return asyncio.get_event_loop().run_until_complete(main(redis))
"""
BY_ITSELF = """
import asyncio
from redis.asyncio import Redis

async def main():
    await Redis().decr("stock")

def run(redis, name):
    asyncio.run(main())
"""


def written(folder: Path, code: str) -> Program:
    path = folder / "take.py"
    path.write_text(code)
    return Program(path, [("SET", "stock", 2)])


def test_somebodys_file(tmp_path: Path) -> None:
    assert explore_apart(written(tmp_path, IN_A_FILE), 2, Faults()).schedules == 6
    report = Explorer(written(tmp_path, OLD), 2).explore(Faults())
    assert report.exhaustive
    assert report.schedules == 6
    with pytest.raises(BadCode, match=r"take\.py, line 6, in main: makes a client of redis\.async"):
        explore_apart(written(tmp_path, BY_ITSELF), 2, Faults())
