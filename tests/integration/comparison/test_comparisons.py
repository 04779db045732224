"""One comparison at a time and no other run, ended once, kept when the store forgets."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from app.bootstrap import Services
from app.domain import ComparisonIsOn, Invalid, RunIsOn, UnknownComparison, UnknownItem
from app.lab.comparison.record import Comparison, Planned, Result
from app.lab.stampede import runs
from app.lab.stampede.events import follow
from app.lab.stampede.jobs import now
from app.lab.stampede.record import How, Run

RUNS_ON = ["valkey"]
Compare = Callable[..., Comparison]


def begin(services: Services, item: str = "pear", comparison: str = "") -> Run:
    """Start a run without a load runner."""
    crowd = {"buyers": 4, "seconds": 2}
    return services.runs.start(item, "naive", 10, {}, crowd, lambda run: None, comparison)


def dies(services: Services, one: Run | Comparison) -> None:
    """Delete the heartbeat, as if it had expired."""
    services.store.delete(one.keys.heartbeat)


def test_of_many_starters_one_compares(services: Services, compare: Compare) -> None:
    def start(_: int) -> str:
        try:
            return compare().id
        except ComparisonIsOn as error:
            return f"not while {error.id} is"

    with ThreadPoolExecutor(8) as pool:
        said = list(pool.map(start, range(8)))
    [mine] = [each for each in said if each.startswith("comparison-")]
    assert set(said) == {mine, f"not while {mine} is"}
    on = services.comparisons.on()
    assert on
    assert on.id == mine
    assert on.modes == ["naive", "watch"], "each once, the reference first"


def test_runs_and_comparisons_keep_out_of_each_others_way(
    services: Services, compare: Compare
) -> None:
    run = begin(services)
    with pytest.raises(RunIsOn) as busy:
        compare()
    assert busy.value.id == run.id
    assert services.comparisons.on() is None, "nothing was claimed"
    dies(services, run)
    mine = compare()
    for item in ("apple", "fig"):
        with pytest.raises(ComparisonIsOn) as other:
            begin(services, item)
        assert other.value.id == mine.id
    assert services.runs.on() == []
    assert begin(services, "apple", mine.id).comparison == mine.id, "its own runs may"


def test_both_claim_before_they_look_so_that_of_two_at_once_one_sees_the_other(
    services: Services, compare: Compare, monkeypatch: pytest.MonkeyPatch
) -> None:
    def a_run_starts() -> None:
        with pytest.raises(ComparisonIsOn):
            begin(services)

    def a_comparison_starts(_: str) -> None:
        with pytest.raises(RunIsOn):
            compare()

    with monkeypatch.context() as at_that_moment:
        at_that_moment.setattr(services.comparisons, "_let_no_run_disturb", a_run_starts)
        mine = compare()
    dies(services, mine)
    with monkeypatch.context() as at_that_moment:
        look = "_let_no_comparison_be_disturbed"
        at_that_moment.setattr(services.runs, look, a_comparison_starts)
        begin(services)


def test_one_that_died_unseen_is_marked_as_crashed_by_the_next(
    services: Services, compare: Compare
) -> None:
    dead = compare()
    run = begin(services, "apple", dead.id)
    services.comparisons.tell(replace(dead, run=run.id))
    for each in (dead, run):
        dies(services, each)
    alive = compare()
    crashed = services.comparisons.find(dead.id)
    assert (crashed.how, crashed.run) == (How.CRASHED, "")
    assert services.runs.find(run.id).how == How.CRASHED, "its run is told of, too"
    assert not services.rounds.find("apple").running, "nobody buys in its round any more"
    on = services.comparisons.on()
    assert on
    assert on.id == alive.id


def test_who_watches_tells_that_it_crashed(services: Services, compare: Compare) -> None:
    mine = compare()
    services.comparisons.tell(mine)
    dies(services, mine)
    told = [event for event in follow(services.comparisons, mine, "") if event]
    assert [event.kind for event in told] == ["step", "end"]
    assert list(follow(services.comparisons, mine, told[0].id)) == told[1:], "cut off, the rest"
    assert services.comparisons.find(mine.id).how == How.CRASHED


@pytest.mark.usefixtures("database_url")
def test_it_outlives_the_store_and_is_in_the_history_page_by_page(
    services: Services, compare: Compare
) -> None:
    mine = compare()
    run = begin(services, "apple", mine.id)
    services.runs.finish(replace(run, how=How.FINISHED))
    result = Result.of(Planned("naive", 1), services.runs.find(run.id))
    services.comparisons.finish(replace(mine, how=How.FINISHED, results=[result]))
    services.comparisons.finish(replace(mine, how=How.CRASHED))
    before = services.comparisons.find(mine.id)
    assert (before.how, before.results[0].run) == (How.FINISHED, run.id)
    alone = [begin(services, item) for item in ("pear", "fig")]
    for number, each in enumerate(alone, 1):
        services.runs.finish(replace(each, how=How.STOPPED, started=now() + number))
    services.store.flushall()
    assert services.comparisons.find(mine.id) == before
    assert services.runs.find(run.id).comparison == mine.id
    pear, fig = (services.runs.find(each.id) for each in alone)
    assert services.comparisons.past(0, 9) == [fig, pear, before], "its run is on its own page"
    pages = [services.comparisons.past(first, 1) for first in range(4)]
    assert pages == [[fig], [pear], [before], []]
    assert services.runs.latest(9) == [fig, pear]


def test_all_that_is_wrong_is_said_at_once(services: Services, compare: Compare) -> None:
    with pytest.raises(Invalid) as wrong:
        compare(
            stock=0,
            modes=["magic"],
            reference="lock:none",
            times={"think": -1},
            crowd={"buyers": 513, "seconds": 0, "repeats": 6},
        )
    assert set(wrong.value.errors) == {
        *("stock", "modes", "reference", "think", "buyers", "seconds", "repeats")
    }
    every = ["watch", "atomic", "decr", "fenced", "sql", "watched", "lock:lease", "lock:queue"]
    for modes in ([], ["naive"], every):
        with pytest.raises(Invalid, match="Choose 2 to 8 ways"):
            compare(modes=modes)
    with pytest.raises(UnknownItem):
        compare(item="durian")
    compare(modes=every[:7])  # nothing was claimed


def test_without_locust_nobody_can_buy(compare: Compare, monkeypatch: pytest.MonkeyPatch) -> None:
    found = importlib.util.find_spec
    monkeypatch.setattr(runs, "find_spec", lambda name: None if name == "locust" else found(name))
    with pytest.raises(Invalid, match="Locust is not installed here"):
        compare()


def test_a_process_that_cannot_be_started_leaves_nothing(
    services: Services, compare: Compare
) -> None:
    def fail(_: Comparison) -> None:
        raise OSError("no more processes")

    with pytest.raises(OSError, match="no more"):
        compare(drive=fail)
    assert services.comparisons.on() is None
    compare()


@pytest.mark.parametrize("id", ["comparison-0123456789", "apple-1", "", "x"])
def test_unknown_comparisons(services: Services, id: str) -> None:
    with pytest.raises(UnknownComparison):
        services.comparisons.find(id)
