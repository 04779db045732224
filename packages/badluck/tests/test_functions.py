"""Functions explored from a test: what is found, what holds, and what is refused."""

from __future__ import annotations

import re
import sys
import weakref
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
import redis
from badluck import BadCode, BadluckError, Faults, explore
from badluck.functions.search_rounds import SearchRound

Redis = redis.Redis
TAKE = "if tonumber(redis.call('get', KEYS[1])) > 0 then return redis.call('decr', KEYS[1]) end"
seen: list[str] = []
tries = 0


def count_up(redis: Redis) -> int:
    count = int(redis.get("n") or 0) + 1
    redis.set("n", count)
    return count


def count_up_at_once(redis: Redis) -> Any:
    return redis.incr("n")


def count_up_watched(redis: Redis) -> Any:
    return redis.transaction(_next, "n")


def _next(pipe: redis.client.Pipeline) -> None:
    count = int(pipe.get("n") or 0) + 1
    pipe.multi()
    pipe.set("n", count)


def holds(redis: Redis) -> None:
    while not redis.set("lock", "me", nx=True):
        pass


def remembers(redis: Redis) -> None:
    seen.append(str(redis.get("n")))


def counts_its_tries(redis: Redis) -> None:
    global tries
    tries += 1
    redis.get("n")


def number(redis: Redis) -> int:
    return int(redis.get("n") or 0)


@pytest.mark.parametrize("actors", [2, 3])
def test_a_lost_update(actors: int) -> None:
    result = explore(actor=count_up, count=actors, at_end=lambda redis: number(redis) == actors)
    assert result.verdict == "fails"
    (finding,) = result.report.findings
    assert finding.name == "broken at the end"
    assert finding.cost.faults == 0
    with pytest.raises(AssertionError, match=r"BROKEN AT THE END.*\n.*actor A.* n\n  1 .*GET n"):
        result.assert_holds()


@pytest.mark.parametrize("counts", [count_up_at_once, count_up_watched])
def test_what_is_sound_holds(counts: Callable[..., Any]) -> None:
    result = explore(actor=counts, count=3, at_end=lambda redis: number(redis) == 3)
    assert result.verdict == "holds", result
    assert result.proved == [SearchRound(3, Faults())]
    result.assert_holds()


def test_a_script_that_reads_and_writes_at_once_holds() -> None:
    def take(redis: Redis) -> Any:
        return redis.eval(TAKE, 1, "n")

    explore(
        setup=lambda redis: redis.set("n", 1),
        actors=[take, take, take],
        invariant=lambda redis, answers: number(redis) >= 0 and [*answers.values()].count(0) <= 1,
        faults="crash=1,pause=1,lost=1",
    ).assert_holds()


def test_a_lock_that_nobody_releases() -> None:
    """Every order gets stuck: one is shown, up to the step from which an actor waits forever."""
    (finding,) = explore(actor=holds).report.findings
    assert finding.name == "stuck forever"
    assert finding.trace[0].outcome == "None"


def test_the_invariant_is_asked_after_every_step() -> None:
    def moves(redis: Redis) -> None:
        redis.decr("a")
        redis.incr("b")

    result = explore(
        setup=lambda redis: redis.mset({"a": 1, "b": 0}),
        actors=[moves],
        invariant=lambda redis: redis.mget("a", "b") in ([b"1", b"0"], [b"0", b"1"]),
    )
    assert [finding.cost.steps for finding in result.report.findings] == [1]


def test_a_race_that_ends_in_an_exception() -> None:
    def takes(redis: Redis) -> None:
        if redis.exists("n"):
            left = int(redis.get("n"))  # type: ignore[arg-type]
            redis.delete("n")
            assert left == 1

    result = explore(setup=lambda redis: redis.set("n", 1), actor=takes)
    (finding,) = result.report.findings
    assert finding.name == "exception"
    assert "test_functions.py, line" in finding.trace[-1].outcome
    assert "in takes: TypeError: int() argument" in finding.trace[-1].outcome


def test_different_actors_by_name() -> None:
    def signs(redis: Redis, name: str) -> str:
        redis.rpush("names", name)
        return name

    explore(
        actors=[signs, partial(signs, name="Z"), signs],
        at_end=lambda redis, answers: (
            answers == {"A": "A", "B": "Z", "C": "C"}
            and sorted(redis.lrange("names", 0, -1)) == [b"A", b"C", b"Z"]
        ),
    ).assert_holds()


def _captures() -> Callable[..., object]:
    log: list[object] = []
    return lambda redis: log.append(redis.get("n"))


def _has_by_default() -> Callable[..., object]:
    def logs(redis: Redis, log: list[object] = []) -> None:  # noqa: B006
        log.append(redis.get("n"))

    return logs


counts: dict[str, int] = {}


def counts_by_name(redis: Redis, name: str) -> None:
    counts[name] += 1


def sets_by_name(redis: Redis, name: str) -> None:
    counts[name] = redis.incr("n")


def reads_by_name(redis: Redis, name: str) -> None:
    known = {}
    known[name] = counts.get(name, redis.incr("n"))


def test_a_constant_of_the_test_may_be_read() -> None:
    explore(actor=reads_by_name, at_end=lambda redis: redis.get("n") == b"2").assert_holds()


class Bank:
    def pays(self, redis: Redis) -> None:
        redis.incr("n")


@pytest.mark.parametrize(
    ("actor", "said"),
    [
        (_captures(), "has captured log: a list"),
        (_has_by_default(), "logs has a default: a list"),
        (Bank().pays, r"pays: a method .* `def actor\(redis\): Bank\(…\)\.pays\(redis\)`"),
        (partial(_has_by_default(), log=[]), "log: a list"),
        (remembers, "remembers changes seen of the test's own module .list.;"),
        (counts_its_tries, "counts_its_tries changes tries"),
        (counts_by_name, "counts_by_name changes counts"),
        (sets_by_name, "sets_by_name changes counts"),
    ],
)
def test_what_actors_would_share_is_refused_by_name(actor: Callable[..., Any], said: str) -> None:
    with pytest.raises(BadCode, match=said):
        explore(actor=actor)


@pytest.mark.parametrize("status", [None, 0, 1, "sold out"])
def test_who_exits_has_come_to_its_end_and_told_nothing(status: object) -> None:
    def exits(redis: Redis) -> str:
        if redis.decr("n") < 0:
            redis.incr("n")
            sys.exit(status)  # type: ignore[arg-type]
        return "bought"

    found = explore(
        actor=exits,
        count=2,
        setup=lambda redis: redis.set("n", 1),
        at_end=lambda _, answers: list(answers.values()) == ["bought"],
    )
    assert found.verdict == "holds"


def test_what_is_no_question() -> None:
    with pytest.raises(BadCode, match="must take a client, or a client and a name"):
        explore(actor=lambda: None)
    with pytest.raises(BadluckError, match=r"actors=\[f, g\], or actor=f"):
        explore(actors=count_up_at_once)  # type: ignore[arg-type]
    with pytest.raises(BadluckError, match="1 to 4 actors"):
        explore(actors=[])
    with pytest.raises(BadluckError, match="'fire' is not one of"):
        explore(actor=count_up, faults="fire=1")
    with pytest.raises(BadluckError, match=r"faults are a text, like 'crash=1,pause=1'"):
        explore(actor=count_up, faults={"crash": 1})  # type: ignore[arg-type]


def takes_the_flag(redis: Redis) -> Any:
    return redis.get("flag") == "up" and redis.set("flag", "down")


async def takes_the_flag_later(redis: Any) -> Any:
    return await redis.get("flag") == "up" and await redis.set("flag", "down")


def put_the_flag_up(redis: Redis) -> None:
    redis.set("flag", "up")


@pytest.mark.parametrize("actor", [takes_the_flag, takes_the_flag_later])
def test_all_clients_decode_what_they_are_answered(actor: Callable[..., Any]) -> None:
    def once(redis: Redis, answers: dict[str, Any]) -> bool:
        assert redis.get("flag") in ("up", "down")
        return [*answers.values()].count(True) <= 1

    result = explore(
        actor=actor, count=2, setup=put_the_flag_up, at_end=once, decode_responses=True
    )
    (one,) = result.report.findings
    assert (one.name, one.trace[-1].outcome) == ("broken at the end", "True")


class Job:
    pass


def test_what_depends_on_no_answer_is_named_with_its_line() -> None:
    def asks_by_an_object(redis: Redis) -> None:
        while not redis.set("door", repr(Job()), nx=True):
            pass
        redis.delete("door")

    with pytest.raises(BadCode, match="does not do the same") as error:
        explore(actor=asks_by_an_object)
    assert re.search("It sent '<[a-z_.]+Job object at 0x[0-9a-f]+>', and now", str(error.value))
    assert "That is where an object lies in memory.\n    test_functions.py, line" in str(
        error.value
    )


def test_an_exception_comes_before_what_follows_of_it() -> None:
    def shows(redis: Redis) -> str | None:
        return str(redis.hgetall("user")[b"name"]) if redis.exists("user") else None

    result = explore(
        setup=lambda redis: redis.hset("user", "name", "ann"),
        actors=[shows, lambda redis: redis.delete("user")],
        at_end=lambda redis, answers: answers["A"] in ("b'ann'", None),
    )
    (finding,) = result.report.findings
    assert finding.name == "exception"
    assert "in shows: KeyError: b'name'" in finding.explanation


def test_who_is_told_an_error_in_every_order_is_said_to_be() -> None:
    def releases_twice(redis: Redis) -> None:
        lock = redis.lock("lock")
        lock.acquire()
        lock.release()
        lock.release()

    result = explore(actor=releases_twice)
    assert result.verdict == "holds"
    assert "A ends in ERROR in every order: LockError: Cannot release" in str(result)


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ({"actor": count_up, "actors": [count_up]}, "actor=f says what all do"),
        ({"actor": count_up, "setup": lambda redis, name: 1}, "must take a client, and nothing"),
        ({"actor": lambda: 1}, "must take a client, or a client and a name"),
        ({"actor": count_up, "at_end": lambda: 1}, "or a client and what actors returned"),
        ({"actor": count_up, "faults": "crash"}, "it needs a number, crash=1"),
    ],
)
def test_what_is_asked_wrongly(question: dict[str, Any], said: str) -> None:
    with pytest.raises(BadluckError, match=said):
        explore(**question)


def test_who_keeps_a_weak_proxy_of_what_is_gone() -> None:
    def works(redis: Redis) -> None:
        job = Job()
        held = [weakref.proxy(job)]
        while not redis.set("door", 1, nx=True):
            held[0].tries = 1
        del job
        redis.incr("n")
        redis.delete("door")

    explore(actor=works, at_end=lambda redis: redis.get("n") == b"2").assert_holds()
