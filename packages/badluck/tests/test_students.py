"""Code of students who did not know the search: each program was judged wrong once."""

from __future__ import annotations

import re
import time
from pathlib import Path
from typing import Any

import pytest
from badluck import BadCode, explore
from badluck.real_server.backend import real_backend
from badluck.report.replay import replay
from badluck.search.names import LETTERS
from redis import Redis


def pays(redis: Redis) -> str:
    redis.incr("paid")
    return "ok"


def as_often_as_it_says(redis: Redis, answers: dict[str, Any]) -> bool:
    return int(redis.get("paid") or 0) == list(answers.values()).count("ok")


def test_who_crashes_before_it_answers_has_told_nobody(server_program: str, tmp_path: Path) -> None:
    result = explore(actor=pays, count=2, at_end=as_often_as_it_says, faults="crash=1")
    (finding,) = result.report.findings
    assert [(step.does, step.outcome) for step in finding.trace] == [
        ("goes", ""),
        ("crash", ""),
        ("goes", "'ok'"),
    ]
    with real_backend(tmp_path, 1, server_program) as backend:
        played = replay(result.report.target, LETTERS[:2], finding.trace, backend)
    assert [step.same for step in played] == [True] * 3


def test_a_lease_that_only_a_clock_knows_ends_beside_a_key_that_expires() -> None:
    def acts(redis: Redis, name: str) -> str:
        redis.set(f"seen:{name}", 1, ex=5)
        until = float(redis.hget("grant", "until") or 0)
        if time.time() > until:
            return "refused"
        redis.rpush("log", name)
        return "late" if time.time() > until else "in time"

    result = explore(
        actor=acts,
        count=1,
        faults="pause=1",
        setup=lambda redis: redis.hset("grant", "until", "1900000030"),
        at_end=lambda _, answers: "late" not in answers.values(),
    )
    assert result.verdict == "fails", result


@pytest.mark.parametrize("seconds", [3_600, 7_200, 86_400, 40 * 86_400])
def test_no_lease_is_too_long_to_run_out_in_a_pause(seconds: int) -> None:
    def nightly(redis: Redis) -> str:
        if not redis.set("nightly", "x", nx=True, ex=seconds):
            return "busy"
        bill = int(redis.get("bill") or 0)
        redis.set("bill", bill + 1)
        return "done"

    def billed(redis: Redis, answers: dict[str, Any]) -> bool:
        return int(redis.get("bill") or 0) >= list(answers.values()).count("done")

    assert explore(actor=nightly, count=2, at_end=billed).verdict == "holds"
    assert explore(actor=nightly, count=2, at_end=billed, faults="pause=1").verdict == "fails"


@pytest.mark.parametrize("minutes", [9, 15, 60, 24 * 60])
def test_nor_is_one_that_only_a_clock_knows(minutes: int) -> None:
    def customer(redis: Redis, name: str) -> str:
        redis.zadd("reserved", {name: time.time() + 60 * minutes})
        redis.zrem("reserved", name)
        redis.incr("sold")
        return "paid"

    def sweeper(redis: Redis) -> None:
        due: Any = redis.zrangebyscore("reserved", 0, time.time())
        for name in due:
            if redis.zrem("reserved", name):
                redis.incr("seats")

    def exact(redis: Redis) -> bool:
        return int(redis.get("seats") or 0) + int(redis.get("sold") or 0) <= 1

    result = explore(actors=[customer, sweeper], at_end=exact, faults="pause=1")
    assert result.verdict == "fails", result


def test_what_no_order_is_the_cause_of_is_called_no_race() -> None:
    def opens(redis: Redis) -> None:
        if redis.get("door") == "locked":  # bytes are not equal to a text
            return
        redis.incr("inside")

    result = explore(
        actor=opens,
        count=2,
        setup=lambda redis: redis.set("door", "locked"),
        at_end=lambda redis: redis.get("inside") is None,
    )
    assert "It is no race: " in str(result)


def test_a_race_is_not_called_so() -> None:
    def adds(redis: Redis) -> None:
        redis.set("n", int(redis.get("n") or 0) + 1)

    result = explore(actor=adds, count=2, at_end=lambda redis: redis.get("n") == b"2")
    assert result.verdict == "fails"
    assert "no race: " not in str(result)


def test_a_forgotten_await_is_named() -> None:
    async def counts(redis: Any) -> None:
        redis.incr("n")

    result = explore(actor=counts, count=2, at_end=lambda redis: redis.get("n") == b"2")
    said = r"incr\(\"n\"\)`: coroutine 'Redis.execute_command' was never awaited, and does nothing"
    assert re.search(said, str(result)), result


def test_who_is_told_error_is_told_which() -> None:
    def work(redis: Redis) -> str:
        with redis.lock("door", timeout=1):
            redis.incr("n")
        return "ok"

    def both(redis: Redis, answers: dict[str, Any]) -> bool:
        return len(answers) == 2

    found = explore(actor=work, count=2, at_end=both, faults="pause=1")
    assert found.verdict == "fails"
    assert re.search(r"[AB] ends in ERROR: LockNotOwnedError: Cannot release a lock", str(found))


def test_what_is_raised_before_the_first_command_is_named() -> None:
    def fails(redis: Redis) -> None:
        raise ValueError("boom")

    (finding,) = explore(actor=fails, count=2).report.findings
    assert "in fails: ValueError: boom" in finding.explanation


def test_who_is_there_only_when_its_module_is_run_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def is_run(redis: Redis) -> None:
        redis.incr("n")

    is_run.__qualname__ = "is_run"
    monkeypatch.setitem(globals(), "is_run", is_run)
    with pytest.raises(BadCode, match="is_run is not there when its module is imported"):
        explore(actors=[is_run, is_run])


def test_what_an_assertion_says_is_said() -> None:
    def counts(redis: Redis) -> bool:
        n = int(redis.get("paid") or 0)
        assert n < 2, f"{n} were paid"
        return True

    (finding,) = explore(actor=pays, count=2, invariant=counts).report.findings
    assert finding.explanation == "The invariant does not hold. 2 were paid"


def meets(redis: Redis) -> str | None:
    if redis.incr("here") == 2:
        redis.set("here", 0)
        return "last"
    while int(redis.get("here") or 0) != 0:
        time.sleep(0.05)
    return None


def test_who_will_wait_does_not_wait_yet() -> None:
    (finding,) = explore(actor=meets, count=3).report.findings
    assert "not come to that yet, but every way leads there" in finding.explanation
