"""One run for an item at a time, ended once, kept when the store forgets."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from app.bootstrap import Services
from app.domain import Invalid, RunIsOn, UnknownItem, UnknownRound, UnknownRun
from app.lab.stampede import runs as module
from app.lab.stampede.events import follow
from app.lab.stampede.heartbeat import Heartbeat
from app.lab.stampede.record import How, Run
from app.store import runs as records

RUNS_ON = ["valkey"]
Begin = Callable[..., Run]


def dies(services: Services, run: Run) -> None:
    """Delete the heartbeat, as if it had expired."""
    services.store.delete(run.keys.heartbeat)


def test_of_many_starters_one_has_the_item(services: Services, begin: Begin) -> None:
    def start(_: int) -> str:
        try:
            return begin().id
        except RunIsOn as error:
            return f"not while {error.id} is"

    with ThreadPoolExecutor(8) as pool:
        said = list(pool.map(start, range(8)))
    [mine] = [each for each in said if each.startswith("apple-")]
    assert set(said) == {mine, f"not while {mine} is"}
    assert services.rounds.find("apple").number == 1, "nobody else's round was started"
    assert [run.id for run in services.runs.on()] == [mine]
    assert begin(item="pear").item == "pear", "another item does not mind"


def test_one_that_died_unseen_is_marked_as_crashed_by_the_next(
    services: Services, begin: Begin
) -> None:
    dead = begin()
    services.store.xadd(dead.keys.events, {"kind": "sample", "data": '{"sold":3}'})
    dies(services, dead)
    assert services.runs.on() == []
    alive = begin()
    crashed = services.runs.find(dead.id)
    assert (crashed.how, crashed.figures) == (How.CRASHED, {"sold": 3})
    assert [run.id for run in services.runs.on()] == [alive.id]
    assert services.rounds.find("apple", alive.round.number).running, "the new round goes on"
    assert [run.id for run in services.runs.latest(5)] == [dead.id]


def test_who_watches_tells_that_it_crashed(services: Services, begin: Begin) -> None:
    run = begin()
    dies(services, run)
    told = [event for event in follow(services.runs, run, "") if event]
    assert [event.kind for event in told] == ["end"]
    assert services.runs.find(run.id).how == How.CRASHED
    assert not services.rounds.find("apple").running, "nobody buys in its round any more"


def test_a_run_that_misses_a_heartbeat_is_not_marked_as_crashed(
    services: Services, begin: Begin
) -> None:
    """After the store was away, the run's process needs a moment to show that it lives."""
    run = begin()
    dies(services, run)
    screen = follow(services.runs, run, "")
    assert [next(screen), next(screen)] == [None, None]
    assert records.beat(services.store, "apple", run.id, 5_000)
    assert next(screen) is None
    assert services.runs.find(run.id).ended is None


def test_who_was_cut_off_is_told_the_rest_once(services: Services, begin: Begin) -> None:
    run = begin()
    for number in range(5):
        services.store.xadd(run.keys.events, {"kind": "sample", "data": f'{{"sold":{number}}}'})
    services.runs.finish(replace(run, how=How.FINISHED))
    whole = [event for event in follow(services.runs, run, "") if event]
    assert len(whole) == 6
    for cut in range(1, 6):
        assert list(follow(services.runs, run, whole[cut - 1].id)) == whole[cut:]


def test_it_ends_once(services: Services, begin: Begin) -> None:
    run = begin()
    services.runs.finish(replace(run, how=How.STOPPED))
    services.runs.finish(replace(run, how=How.CRASHED))
    assert services.runs.find(run.id).how == How.STOPPED
    assert services.store.xlen(run.keys.events) == 1
    services.runs.stop(run.id)
    assert not services.store.exists(run.keys.stop), "a run that has ended is left as it is"
    begin()


def test_a_heartbeat_that_the_store_forgot_comes_again(services: Services, begin: Begin) -> None:
    run = begin()
    dies(services, run)
    assert records.beat(services.store, "apple", run.id, 5_000)
    assert services.store.get(run.keys.heartbeat) == run.id.encode()
    dies(services, run)
    begin()
    assert not records.beat(services.store, "apple", run.id, 5_000), "another one is on"


def test_a_beat_that_comes_late_keeps_nobody_out(services: Services, begin: Begin) -> None:
    """After its last report a heartbeat may still come, and claim the item again."""
    run = begin()
    with Heartbeat(services.store, "apple", run.id):
        services.runs.finish(replace(run, how=How.FINISHED))
        assert records.beat(services.store, "apple", run.id, 5_000)
    begin()


def test_the_history_outlives_the_store(services: Services, begin: Begin) -> None:
    run = begin()
    services.store.xadd(run.keys.events, {"kind": "sample", "data": '{"sold":3}'})
    services.runs.finish(replace(run, how=How.FINISHED, figures={"sold": 3}))
    before = services.runs.find(run.id)
    services.store.flushall()
    assert services.runs.find(run.id) == before
    assert [event.kind for event in services.runs.kept_events(before)] == ["sample", "end"]
    assert services.runs.latest(5) == [before]


def test_all_that_is_wrong_is_said_at_once(services: Services, begin: Begin) -> None:
    with pytest.raises(Invalid) as wrong:
        begin(stock=0, crowd={"buyers": 513, "seconds": 0})
    assert set(wrong.value.errors) == {"stock", "buyers", "seconds"}
    with pytest.raises(UnknownItem):
        begin(item="durian")
    with pytest.raises(UnknownRound):
        services.rounds.find("apple")
    begin()  # nothing was claimed


def test_without_locust_nobody_can_buy(
    services: Services, begin: Begin, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = importlib.util.find_spec
    monkeypatch.setattr(module, "find_spec", lambda name: None if name == "locust" else found(name))
    with pytest.raises(Invalid, match="Locust is not installed here") as wrong:
        begin()
    assert set(wrong.value.errors) == {"buyers"}


def test_a_process_that_cannot_be_started_leaves_the_item_free(
    services: Services, begin: Begin
) -> None:
    def fail(_: Run) -> None:
        raise OSError("no more processes")

    with pytest.raises(OSError, match="no more"):
        begin(drive=fail)
    begin()


@pytest.mark.parametrize("id", ["apple-0123456789", "durian-1", "apple", "-", "x"])
def test_unknown_runs(services: Services, id: str) -> None:
    with pytest.raises(UnknownRun):
        services.runs.find(id)


def test_a_round_that_somebody_began_at_that_moment_goes_on(
    services: Services, begin: Begin, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The run has read its own round before: looking and ending must be one step."""
    run = begin()
    services.rounds.start(run.item, "atomic", 5, {})
    monkeypatch.setattr(services.rounds, "newest", lambda item: run.round)
    services.runs.end_round(run)
    assert services.rounds.find(run.item).running
