"""Each ready-made invariant, with code that breaks it and code that holds."""

from __future__ import annotations

from ast import literal_eval
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
import redis
from badluck import BadCode, BadluckError, Result, explore
from badluck.functions.invariants import (
    at_most,
    each_once,
    inside,
    linearizable,
    no_lost_update,
    one_holder,
    sum_stays,
)

Redis = redis.Redis


def names(result: Result) -> list[str]:
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
    explore(actor=without_an_end, count=2, invariant=alone, faults="pause=1,crash=1").assert_holds()


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
    """No `finally` runs then."""

    def both_or_none(redis: Redis) -> bool:
        return len(redis.lrange("log", 0, -1)) in (0, 2)

    explore(actor=raises_inside, count=1, at_end=both_or_none).assert_holds()
    crashed = explore(actor=raises_inside, count=1, at_end=both_or_none, faults="crash=1")
    trace = crashed.report.findings[0].trace
    assert [(step.does, step.shown["log"]) for step in trace] == [
        ("goes", "[A enters]"),
        ("crash", "[A enters]"),
    ]


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
    """With DECR first and INCR after, three of which one wants two: told no, though one is left."""

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
    """As from a cache that nobody has told."""
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
    """An old value may be read while it is written, and not by who begins when that is done.

    Both are told the same, and the servers' keys are the same; what differs is only when.
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
        assert trace[3].lines == ["begins badluck:ended badluck:begun B"]
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


LEASE = 10_000  # ms


def locks_most(servers: tuple[Redis, ...], name: str) -> bool:
    got = [bool(one.set("lock", name, nx=True, px=LEASE)) for one in servers]
    return sum(got) > len(servers) // 2


def locks_any(servers: tuple[Redis, ...], name: str) -> bool:
    return any(one.set("lock", name, nx=True) for one in servers)


def at_most_one(servers: tuple[Redis, ...], told: dict[str, bool]) -> bool:
    assert len(servers) == 3
    return sum(told.values()) <= 1


def test_several_servers() -> None:
    explore(actor=locks_most, count=2, servers=3, invariant=at_most_one).assert_holds()

    any_of_them = explore(actor=locks_any, servers=3, invariant=at_most_one)
    finding = any_of_them.report.findings[0]
    assert finding.trace[-1].lines[0].startswith("1: SET lock ")
    one_forgets = explore(
        actor=locks_most, count=2, servers=3, invariant=at_most_one, faults="failover=1"
    )
    assert one_forgets.report.findings[0].cost.faults == 1
    for servers in (0, 6):
        with pytest.raises(BadluckError, match="1 to 5 servers"):
            explore(actor=locks_any, servers=servers)


def gives(servers: tuple[Redis, ...]) -> None:
    servers[0].decr("n")
    servers[1].incr("n")


def test_an_invariant_sees_all_servers() -> None:
    result = explore(
        actors=[gives],
        servers=2,
        setup=lambda servers: [one.set("n", 1) for one in servers],
        invariant=sum_stays(2, "n"),
        at_end=lambda servers: [one.get("n") for one in servers] == [b"0", b"2"],
    )
    (finding,) = result.report.findings
    assert finding.trace[-1].shown == {"n": "0", "1: n": "1"}
    assert finding.trace[-1].lines == ["DECRBY n 1"]
    explore(
        actors=[gives],
        servers=2,
        setup=lambda servers: [one.set("n", 1) for one in servers],
        at_end=sum_stays(2, "n"),
    ).assert_holds()
