"""The rounds of a search: their order, their texts, and the same result on any number of cores."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import redis
from badluck import BadCode, ExploreResult, Faults, explore
from badluck.functions import parallel_searches
from badluck.functions.search_rounds import ANY, SearchRound, plan_rounds, starting_order
from redis import RedisError

Redis = redis.Redis


def is_busy(redis: Redis) -> None:
    redis.set("busy", 1)
    redis.delete("busy")


def takes_a_seat(redis: Redis, name: str) -> bool:
    """Two actors find a seat, three may not."""
    return int(redis.incr("seats")) <= 2


def counts(redis: Redis) -> int:
    return int(redis.incr("n"))


def for_ever(redis: Redis) -> None:
    while redis.incr("n"):
        pass


def knows_no_loss(redis: Redis) -> None:
    try:
        redis.get("n")
    except RedisError:
        redis.execute_command("NO.SUCH")


def test_what_is_likely_comes_first() -> None:
    one, other = Faults(crash=1), Faults(lost=1)
    assert [*plan_rounds((2, 3), "crash=1,lost=2")] == [
        *(SearchRound(2, Faults()), SearchRound(3, Faults())),
        *(SearchRound(2, one), SearchRound(2, other), SearchRound(3, one), SearchRound(3, other)),
        *(SearchRound(2, Faults(crash=1, lost=1)), SearchRound(2, Faults(lost=2))),
        *(SearchRound(3, Faults(crash=1, lost=1)), SearchRound(3, Faults(lost=2))),
        *(SearchRound(2, Faults(crash=1, lost=2)), SearchRound(3, Faults(crash=1, lost=2))),
    ]
    assert [*plan_rounds((3,))] == [SearchRound(3, Faults())]
    assert len(plan_rounds((2, 3), ANY)) == 2 * (1 + 5 + 15)
    assert starting_order(plan_rounds((2,), "crash=1,pause=1,lost=1")) == [0, 1, 2, 3, 7, 4, 5, 6]
    assert explore(actor=is_busy).ladder == plan_rounds((2,))
    assert starting_order(plan_rounds((2,))) == [0]


def test_it_ends_with_what_is_found_and_says_what_was_proved() -> None:
    result = explore(
        actor=is_busy,
        at_end=lambda redis: not redis.exists("busy"),
        faults="lost=1,crash=1",
        count=2,
    )
    (finding,) = result.report.findings
    assert finding.cost.faults == 1
    assert result.report.faults == Faults(crash=1)
    assert result.proved == [SearchRound(2, Faults())]
    assert str(result).endswith("\nproved: all orders of 2 with no fault")


def test_three_without_a_fault_come_before_two_with_one() -> None:
    result = explore(
        actor=takes_a_seat,
        count=(2, 3),
        invariant=lambda redis, answers: all(answers.values()),
        at_end=lambda redis: redis.get("seats") != b"1",  # with one fault of two actors
        faults="crash=1",
    )
    assert (result.report.actors, result.report.faults) == (3, Faults())


def test_what_holds_says_so_of_how_much_and_what_is_next() -> None:
    result = explore(
        actor=counts,
        count=(2, 3),
        at_end=lambda redis, answers: int(redis.get("n") or 0) >= len(answers),
        faults="crash=1,pause=1",
    )
    assert result.verdict == "holds"
    assert str(result).splitlines()[-2:] == [
        "proved: all orders of 2 with 1 crash and 1 pause; of 3 with 1 crash and 1 pause",
        "next: 2 with 1 lost",
    ]


def test_what_is_not_looked_at_in_time_is_next() -> None:
    result = explore(actor=for_ever, count=2, seconds=1, faults="crash=1")
    assert (result.verdict, result.proved) == ("inconclusive", [])
    assert str(result).endswith("\nnext: 2 with no fault")


def found(result: ExploreResult) -> dict[str, Any]:
    return result.report.document() | {"seconds": None}


@pytest.mark.parametrize(
    ("actor", "faults"), [(counts, "crash=1,late=1"), (is_busy, "pause=1,lost=1,crash=2")]
)
def test_cores_change_nothing(monkeypatch: pytest.MonkeyPatch, actor: Any, faults: str) -> None:
    results = []
    for cores in (1, 3):
        monkeypatch.setattr(parallel_searches, "cores", lambda cores=cores: cores)
        results.append(
            explore(
                actor=actor,
                count=(2, 3),
                faults=faults,
                at_end=lambda redis: not redis.exists("busy"),
            )
        )
    one, more = results
    assert found(one) == found(more)
    assert (one.verdict, one.proved, one.next) == (more.verdict, more.proved, more.next)


def test_an_error_of_a_later_rung_is_not_heard_before_its_turn() -> None:
    """A finding without a fault comes first, though the later rounds are searched meanwhile."""
    said = explore(actor=knows_no_loss, invariant=lambda redis: False, faults="lost=1", count=2)
    assert said.verdict == "fails"
    with pytest.raises(BadCode, match=r"NO.SUCH is not supported"):
        explore(actor=knows_no_loss, faults="lost=1", count=2)


@contextmanager
def nobody_is_left() -> Iterator[None]:
    before = children()
    yield
    assert children() == before


def children() -> set[str]:
    tasks = Path("/proc/self/task")
    if not tasks.exists():
        pytest.skip("/proc says who is a child, and is not here")
    return {child for task in tasks.iterdir() for child in (task / "children").read_text().split()}


def test_ctrl_c_ends_all_searches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parallel_searches, "cores", lambda: 2)
    before = signal.signal(signal.SIGALRM, lambda *_: signal.raise_signal(signal.SIGINT))
    signal.setitimer(signal.ITIMER_REAL, 0.3)
    try:
        with nobody_is_left(), pytest.raises(KeyboardInterrupt):
            explore(actor=for_ever, faults="crash=1")
    finally:
        signal.signal(signal.SIGALRM, before)


def test_what_was_begun_too_early_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parallel_searches, "cores", lambda: 3)
    descriptors = len(os.listdir("/dev/fd"))
    with nobody_is_left():
        assert explore(actor=for_ever, invariant=lambda redis: False, seconds=1).verdict == "fails"
    assert len(os.listdir("/dev/fd")) == descriptors
