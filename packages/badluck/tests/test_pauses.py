"""How long a pause is: until any lease is over, whichever clock it uses."""

from __future__ import annotations

import asyncio
import queue
import threading
import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import pytest
from badluck import explore
from badluck.report.chart import chart
from redis import Redis


def gives_up_by(clock: Callable[[], float], redis: Redis) -> str:
    deadline = clock() + 5
    redis.incr("reserved")
    if clock() > deadline:
        return "too late"
    redis.incr("ordered")
    return "ordered"


def an_event(redis: Redis) -> str:
    done = threading.Event()

    def work() -> None:
        redis.incr("n")
        done.set()

    threading.Thread(target=work).start()
    return "ordered" if done.wait(1) else "too late"


def a_queue(redis: Redis) -> str:
    answers: queue.Queue[str] = queue.Queue()

    def work() -> None:
        redis.incr("n")
        answers.put("ordered")

    threading.Thread(target=work).start()
    try:
        return answers.get(timeout=1)
    except queue.Empty:
        return "too late"


def a_timer(redis: Redis) -> str:
    late = threading.Timer(30, lambda: redis.set("late", 1))
    late.start()
    redis.incr("n")
    late.cancel()
    late.join()
    return "too late" if redis.exists("late") else "ordered"


@pytest.mark.parametrize(
    "actor",
    [
        partial(gives_up_by, time.monotonic),
        partial(gives_up_by, time.perf_counter),
        an_event,
        a_queue,
        a_timer,
    ],
)
def test_a_pause_lasts_until_somebody_gives_up_by_whatever_clock(actor: Callable[..., Any]) -> None:
    def nobody_is_late(redis: Redis, answers: Mapping[str, Any]) -> bool:
        return answers == {"A": "ordered"}

    assert explore(actor=actor, count=1, at_end=nobody_is_late).verdict == "holds"
    paused = explore(actor=actor, count=1, at_end=nobody_is_late, faults="pause=1")
    assert "BROKEN AT THE END, with 1 fault" in str(paused)


def claims(redis: Any, name: str) -> None:
    """Take a job that another worker got a minute ago, or else a new one."""
    taken = redis.xautoclaim("jobs", "g", name, 60_000)[1]
    if not taken:
        for _, entries in redis.xreadgroup("g", name, {"jobs": ">"}):
            taken += entries
    for entry, _ in taken:
        redis.rpush("done", entry)
        redis.xack("jobs", "g", entry)


LEASE_BY_TIME = """
local now = tonumber(redis.call('TIME')[1])
if tonumber(redis.call('GET', KEYS[1]) or '0') > now then return 0 end
redis.call('SET', KEYS[1], now + 60)
return 1
"""


def leases_by_the_servers_clock(redis: Redis) -> None:
    if redis.eval(LEASE_BY_TIME, 1, "until"):
        redis.rpush("done", redis.incr("inside"))
        redis.decr("inside")


def test_a_pause_is_long_enough_for_what_the_server_tells_by_its_clock() -> None:
    def prepare(redis: Redis) -> None:
        redis.xgroup_create("jobs", "g", "0", mkstream=True)
        redis.xadd("jobs", {"of": "ann"}, id="5-1")

    for faults, verdict in (("none", "holds"), ("pause=1", "fails")):
        claimed = explore(
            setup=prepare, actor=claims, at_end=lambda redis: redis.llen("done") == 1, faults=faults
        )
        assert claimed.verdict == verdict, claimed
        leased = explore(
            actor=leases_by_the_servers_clock,
            invariant=lambda redis: b"2" not in redis.lrange("done", 0, -1),
            faults=faults,
        )
        assert leased.verdict == verdict, leased


def test_a_pause_is_longer_than_the_first_thing_that_changes_by_it() -> None:
    def takes(redis: Redis) -> str:
        began = time.monotonic()
        redis.incr("n")
        took = time.monotonic() - began
        return "too late" if took > 8 else "late" if took > 5 else "in time"

    paused = explore(
        actor=takes,
        count=1,
        at_end=lambda redis, answers: answers["A"] != "too late",
        faults="pause=1",
    )
    assert paused.verdict == "fails"


def test_clocks_that_only_count_began_at_another_time() -> None:
    def mixes_them(redis: Redis) -> None:
        end = time.time() + 5
        while time.monotonic() < end:
            redis.get("x")
            time.sleep(1)

    (one,) = explore(actor=mixes_them, count=1).report.findings
    assert one.name == "stuck forever"

    async def counts_by_its_loop(redis: Any) -> bool:
        end = time.monotonic() + 5
        while asyncio.get_running_loop().time() < end:
            await redis.get("x")
            await asyncio.sleep(1)
        return time.process_time() == time.process_time()

    result = explore(
        actor=counts_by_its_loop, count=1, at_end=lambda redis, answers: answers == {"A": True}
    )
    assert result.verdict == "holds", result


def test_a_long_pause_is_told_in_hours_or_days() -> None:
    """Only in the chart: a saved schedule has seconds, so that any reader can parse it."""

    def leases_for_three_hours(redis: Redis) -> None:
        if redis.eval(LEASE_BY_TIME.replace("60", "10800"), 1, "until"):
            redis.rpush("done", redis.incr("inside"))
            redis.decr("inside")

    leased = explore(
        actor=leases_for_three_hours,
        invariant=lambda redis: b"2" not in redis.lrange("done", 0, -1),
        faults="pause=1",
    )
    (finding,) = leased.report.findings
    pause = next(step for step in finding.trace if step.does == "pause")
    assert pause.lines == ["2678400.0 s"]
    for lasts, said in (
        ("600.0 s", "600.0 s"),
        ("7200.0 s", "2.0 h"),
        ("2678400.0 s", "31.0 days"),
    ):
        drawn = chart([pause._replace(lines=[lasts])], "AB")
        assert f"ALL PAUSE for {said} " in drawn
