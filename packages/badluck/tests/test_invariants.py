"""Each ready-made invariant, with code that breaks it and code for which it holds."""

from __future__ import annotations

from typing import Any

import pytest
import redis
from badluck import ExploreResult, explore
from badluck.invariants import (
    at_most,
    each_once,
    inside,
    linearizable,
    no_lost_update,
    one_holder,
    sum_stays,
)

Redis = redis.Redis


def names(result: ExploreResult) -> list[str]:
    return [finding.name for finding in result.report.findings]


def moves(redis: Redis) -> None:
    redis.decr("a")
    redis.incr("b")


def moves_at_once(redis: Redis) -> None:
    pipe = redis.pipeline()
    pipe.decr("a")
    pipe.incr("b")
    pipe.execute()


def moves_in_a_hash(redis: Redis) -> None:
    pipe = redis.pipeline()
    pipe.hincrby("both", "a", -1)
    pipe.hincrby("both", "b", 1)
    pipe.execute()


def two_accounts(redis: Redis) -> None:
    redis.mset({"a": 5, "b": 5})
    redis.hset("both", mapping={"a": 0, "b": 0})


def test_a_sum_stays() -> None:
    stays = sum_stays(10, "a", "b", "both")
    broken = explore(setup=two_accounts, actor=moves, count=2, invariant=stays)
    assert names(broken) == ["invariant broken"]
    explore(setup=two_accounts, actor=moves, count=2, at_end=stays).assert_holds()
    for sound in (moves_at_once, moves_in_a_hash):
        explore(
            setup=two_accounts, actor=sound, count=2, invariant=stays, faults="crash=1,lost=1"
        ).assert_holds()


def looks_then_enters(redis: Redis, name: str) -> None:
    if redis.scard("room") < 2:
        redis.sadd("room", name)


def counts_then_enters(redis: Redis, name: str) -> None:
    if redis.incr("came") <= 2:
        redis.sadd("room", name)


def test_at_most() -> None:
    (found,) = explore(
        actor=looks_then_enters, count=3, invariant=at_most(2, "room")
    ).report.findings
    assert (found.name, found.cost.faults) == ("invariant broken", 0)
    for faults in ("none", "crash=1"):
        explore(
            actor=counts_then_enters, count=3, invariant=at_most(2, "room"), faults=faults
        ).assert_holds()
    assert names(explore(actor=counts_then_enters, invariant=at_most(1, "came"))) == [
        "invariant broken"
    ]


def two_jobs(redis: Redis) -> None:
    redis.rpush("jobs", "x", "y")


def looks_then_takes(redis: Redis) -> None:
    job: Any = redis.lindex("jobs", 0) or b"none"
    redis.rpush("done", job)
    redis.lrem("jobs", 1, job)


def takes(redis: Redis) -> None:
    job: Any = redis.lpop("jobs")
    redis.rpush("done", job or b"none")


def test_each_job_once() -> None:
    once, all_of_them = each_once("done"), each_once("done", jobs=["x", "y"])
    assert names(explore(setup=two_jobs, actor=looks_then_takes, count=2, invariant=once)) == [
        "invariant broken"
    ]
    explore(setup=two_jobs, actor=takes, count=2, invariant=once, at_end=all_of_them).assert_holds()
    lost = explore(setup=two_jobs, actor=takes, count=2, at_end=all_of_them, faults="crash=1")
    (finding,) = lost.report.findings
    assert finding.cost.faults == 1


def reads_and_writes(redis: Redis) -> None:
    redis.set("n", int(redis.get("n") or 0) + 1)


def adds_or_gives_up(redis: Redis) -> bool:
    with redis.pipeline() as pipe:
        pipe.watch("n")
        count = int(pipe.get("n") or 0)
        pipe.multi()
        pipe.set("n", count + 1)
        try:
            pipe.execute()
        except Watched:
            return False
    return True


Watched = redis.WatchError


def test_no_update_is_lost() -> None:
    kept = no_lost_update("n", start=3)

    def begin(redis: Redis) -> None:
        redis.set("n", 3)

    assert names(explore(setup=begin, actor=reads_and_writes, invariant=kept)) == [
        "invariant broken"
    ]
    explore(
        setup=begin, actor=adds_or_gives_up, count=2, invariant=kept, faults="crash=1,lost=1"
    ).assert_holds()


def leased(redis: Redis, name: str) -> None:
    if redis.set("lock", name, nx=True, px=1000):
        with inside(redis, "log", name):
            redis.get("work")
        if redis.get("lock") == name.encode():
            redis.delete("lock")


def without_an_end(redis: Redis, name: str) -> None:
    if redis.set("lock", name, nx=True):
        with inside(redis, "log", name):
            redis.get("work")
        redis.delete("lock")


def test_one_holder() -> None:
    alone = one_holder("log")
    explore(actor=leased, count=2, invariant=alone, faults="crash=1").assert_holds()
    held_up = explore(actor=leased, count=2, invariant=alone, faults="pause=1").report.findings
    assert (held_up[0].name, held_up[0].cost.faults) == ("invariant broken", 1)
    explore(actor=without_an_end, count=2, invariant=alone, faults="pause=1").assert_holds()


def raises_inside(redis: Redis, name: str) -> str:
    try:
        with inside(redis, "log", name):
            redis.get("work")
            raise ValueError
    except ValueError:
        return "gave up"


def test_who_raises_inside_has_left() -> None:
    alone = one_holder("log")
    (found,) = explore(actor=raises_inside, count=2, invariant=alone).report.findings
    assert (found.name, found.cost.faults) == ("invariant broken", 0)


def test_who_crashes_inside_never_leaves() -> None:
    """A crash runs no `finally`."""

    def both_or_none(redis: Redis) -> bool:
        return len(redis.lrange("log", 0, -1)) in (0, 2)

    explore(actor=raises_inside, count=1, at_end=both_or_none).assert_holds()
    crashed = explore(actor=raises_inside, count=1, at_end=both_or_none, faults="crash=1")
    trace = crashed.report.findings[0].trace
    assert [(step.does, step.shown["log"]) for step in trace] == [
        ("goes", "[A enters]"),
        ("crash", "[A enters]"),
    ]


def does_its_job(redis: Redis, name: str) -> int:
    with redis.lock("lock", timeout=10), inside(redis, "log", name):
        redis.hincrby("both", "a", 1)
        redis.hincrby("both", "b", -1)
        redis.rpush("done", name)
        return int(redis.incr("n"))


@pytest.mark.parametrize("decode", [False, True])
@pytest.mark.parametrize(
    ("holds", "breaks"),
    [
        (sum_stays(0, "both"), sum_stays(1, "both")),
        (at_most(2, "done"), at_most(1, "done")),
        (each_once("done", ["A", "B"]), each_once("done", ["A"])),
        (no_lost_update("n"), no_lost_update("n", start=1)),
        (one_holder("log"), lambda redis: not one_holder("log")(redis)),
        (linearizable(lambda n: (n + 1, n + 1), 0), linearizable(lambda n: (n + 2, n + 1), 0)),
    ],
)
def test_each_reads_what_a_client_decodes(holds: Any, breaks: Any, decode: bool) -> None:
    question: dict[str, Any] = {"actor": does_its_job, "count": 2, "decode_responses": decode}
    explore(**question, at_end=holds).assert_holds()
    assert names(explore(**question, at_end=breaks)) == ["broken at the end"]
