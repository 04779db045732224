"""A schedule that was found breaks the same rule when it is followed, in the model and for real."""

from __future__ import annotations

import threading
import time
from typing import Any, cast

import pytest
import redis
from badluck.functions import schedule_check
from badluck.functions.explore import explore
from badluck.functions.function_target import FunctionTarget
from badluck.functions.search_process import follow, replay
from badluck.plugin import messages
from workers import adds_a_job, works_for_ever

Redis = redis.Redis


def number(redis: Redis) -> int:
    return int(redis.get("n") or 0)


def count_up(redis: Redis) -> None:
    redis.set("n", number(redis) + 1)


def never_releases(redis: Redis) -> None:
    while not redis.set("lock", "me", nx=True):
        pass


def waits_for_nobody(redis: Redis) -> None:
    redis.blpop("queue")


def polls(redis: Redis) -> None:
    while not redis.set("lock", "me", nx=True):
        time.sleep(0.1)
    redis.delete("lock")


def takes(redis: Redis) -> None:
    if redis.exists("n"):
        int(redis.get("n"))  # type: ignore[arg-type]
        redis.delete("n")


def counts_in_a_thread(redis: Redis) -> None:
    thread = threading.Timer(1, redis.incr, ["ticks"])
    thread.start()
    count_up(redis)
    thread.join()


def keeps_it(redis: Redis) -> None:
    if redis.set("door:lock", 1, nx=True):
        redis.incr("n")


def deletes_in_any_case(redis: Redis) -> None:
    if redis.set("door", 1, nx=True):
        redis.incr("n")
    redis.delete("door")


def leases(redis: Redis, name: str) -> None:
    while not redis.set("door", name, nx=True, ex=5):
        pass
    redis.incr("n")
    redis.delete("door")


def leases_by_the_same_word(redis: Redis) -> None:
    while not redis.set("door", 1, nx=True, ex=5):
        time.sleep(0.1)
    redis.incr("n")
    redis.delete("door")


def finds_it_free(redis: Redis) -> None:
    if not redis.exists("door"):
        redis.set("door", 1)
        redis.incr("n")
        redis.delete("door")


def is_two(redis: Redis) -> bool:
    return number(redis) == 2


@pytest.mark.parametrize(
    ("finding", "steps", "question"),
    [
        ("stuck forever", 2, {"actor": never_releases}),
        ("stuck forever", 2, {"actor": waits_for_nobody}),
        ("stuck forever", 2, {"actor": polls, "faults": "crash=1"}),
        ("exception", 5, {"actor": takes, "setup": lambda redis: redis.set("n", 1)}),
        ("broken at the end", 9, {"actor": counts_in_a_thread, "at_end": is_two}),
        ("broken at the end", 2, {"actor": count_up, "count": 1, "at_end": is_two}),
        ("lock leaked", 3, {"actor": keeps_it}),
        ("lock deleted by another", 3, {"actor": deletes_in_any_case}),
        ("lock deleted by another", 5, {"actor": leases, "faults": "pause=1"}),
        ("lock deleted by another", 5, {"actor": leases_by_the_same_word, "faults": "pause=1"}),
        ("stuck forever", 4, {"actors": [adds_a_job, works_for_ever]}),
        ("two holders", 4, {"actor": finds_it_free, "lock": "door"}),
        ("invariant broken", 0, {"actor": count_up, "invariant": lambda redis: False}),
    ],
)
def test_it_breaks_the_same_rule(
    server_program: str, finding: str, steps: int, question: dict[str, Any]
) -> None:
    report = explore(**question).report
    target, found = cast(FunctionTarget, report.target), report.findings[0]
    now = follow(target, found.trace)
    assert now.finding
    assert (now.finding.name, found.name) == (finding, finding)
    assert now.finding.cost == found.cost
    assert len(now.steps) == steps
    played = replay(target, now.steps, server_program)
    assert [one.expected for one in played if not one.same] == []
    assert len(played) == steps


def test_moves_that_cannot_be_made() -> None:
    report = explore(actor=count_up, at_end=is_two).report
    steps = report.findings[0].trace
    target = cast(FunctionTarget, report.target)
    now = follow(target, [*steps[:2], steps[0]._replace(actor="D"), *steps[2:]])
    assert (len(now.steps), now.finding) == (2, None)
    assert follow(target, steps[:3]).finding is None


def test_where_not_all_can_be_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    report = explore(actor=keeps_it).report
    target, found = cast(FunctionTarget, report.target), report.findings[0]
    assert follow(target, found.trace[:-1]).sure
    monkeypatch.setattr(schedule_check, "MAX_STATES", 3)
    now = follow(target, found.trace)
    assert (now.finding, now.sure) == (None, False)
    assert messages.no_longer_fails("a.json", found.trace, now).startswith(
        "whether a.json still breaks it"
    )
