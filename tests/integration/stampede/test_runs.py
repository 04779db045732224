"""One run an item at a time, ended once, remembered when the store forgets."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from app.bootstrap import Parts
from app.domain import Invalid, RunIsOn, UnknownItem, UnknownRound, UnknownRun
from app.service.stampede import runs as module
from app.service.stampede.events import follow
from app.service.stampede.heartbeat import Heartbeat
from app.service.stampede.record import How, Run
from app.store import runs as records

RUNS_ON = ["valkey"]
Begin = Callable[..., Run]


def dies(parts: Parts, run: Run) -> None:
    """As when nobody has renewed its heartbeat for long enough."""
    parts.store.delete(run.keys.heartbeat)


def test_of_many_starters_one_has_the_item(parts: Parts, begin: Begin) -> None:
    def start(_: int) -> str:
        try:
            return begin().id
        except RunIsOn as error:
            return f"not while {error.id} is"

    with ThreadPoolExecutor(8) as pool:
        said = list(pool.map(start, range(8)))
    [mine] = [each for each in said if each.startswith("apple-")]
    assert set(said) == {mine, f"not while {mine} is"}
    assert parts.rounds.find("apple").number == 1, "nobody else's round was started"
    assert [run.id for run in parts.runs.on()] == [mine]
    assert begin(item="pear").item == "pear", "another item does not mind"


def test_one_that_died_unseen_is_marked_as_crashed_by_the_next(parts: Parts, begin: Begin) -> None:
    dead = begin()
    parts.store.xadd(dead.keys.events, {"kind": "sample", "data": '{"sold":3}'})
    dies(parts, dead)
    assert parts.runs.on() == []
    alive = begin()
    crashed = parts.runs.find(dead.id)
    assert (crashed.how, crashed.figures) == (How.CRASHED, {"sold": 3})
    assert [run.id for run in parts.runs.on()] == [alive.id]
    assert parts.rounds.find("apple", alive.round.number).running, "the new round goes on"
    assert [run.id for run in parts.runs.latest(5)] == [dead.id]


def test_who_watches_tells_that_it_crashed(parts: Parts, begin: Begin) -> None:
    run = begin()
    dies(parts, run)
    told = [event for event in follow(parts.runs, run, "") if event]
    assert [event.kind for event in told] == ["end"]
    assert parts.runs.find(run.id).how == How.CRASHED
    assert not parts.rounds.find("apple").running, "nobody buys in its round any more"


def test_a_run_that_misses_a_heartbeat_is_not_marked_as_crashed(parts: Parts, begin: Begin) -> None:
    """After a store that was away its process needs a moment to show that it lives."""
    run = begin()
    dies(parts, run)
    screen = follow(parts.runs, run, "")
    assert [next(screen), next(screen)] == [None, None]
    assert records.beat(parts.store, "apple", run.id, 5_000)
    assert next(screen) is None
    assert parts.runs.find(run.id).ended is None


def test_who_was_cut_off_is_told_the_rest_once(parts: Parts, begin: Begin) -> None:
    run = begin()
    for number in range(5):
        parts.store.xadd(run.keys.events, {"kind": "sample", "data": f'{{"sold":{number}}}'})
    parts.runs.finish(replace(run, how=How.FINISHED))
    whole = [event for event in follow(parts.runs, run, "") if event]
    assert len(whole) == 6
    for cut in range(1, 6):
        assert list(follow(parts.runs, run, whole[cut - 1].id)) == whole[cut:]


def test_it_ends_once(parts: Parts, begin: Begin) -> None:
    run = begin()
    parts.runs.finish(replace(run, how=How.STOPPED))
    parts.runs.finish(replace(run, how=How.CRASHED))
    assert parts.runs.find(run.id).how == How.STOPPED
    assert parts.store.xlen(run.keys.events) == 1
    parts.runs.stop(run.id)
    assert not parts.store.exists(run.keys.stop), "a run that has ended is left as it is"
    begin()


def test_a_heartbeat_that_the_store_forgot_comes_again(parts: Parts, begin: Begin) -> None:
    run = begin()
    dies(parts, run)
    assert records.beat(parts.store, "apple", run.id, 5_000)
    assert parts.store.get(run.keys.heartbeat) == run.id.encode()
    dies(parts, run)
    begin()
    assert not records.beat(parts.store, "apple", run.id, 5_000), "another one is on"


def test_a_beat_that_comes_late_keeps_nobody_out(parts: Parts, begin: Begin) -> None:
    """Between its last word and its process's end a heartbeat may come, and claim the item anew."""
    run = begin()
    with Heartbeat(parts.store, "apple", run.id):
        parts.runs.finish(replace(run, how=How.FINISHED))
        assert records.beat(parts.store, "apple", run.id, 5_000)
    begin()


def test_the_history_outlives_the_store(parts: Parts, begin: Begin) -> None:
    run = begin()
    parts.store.xadd(run.keys.events, {"kind": "sample", "data": '{"sold":3}'})
    parts.runs.finish(replace(run, how=How.FINISHED, figures={"sold": 3}))
    before = parts.runs.find(run.id)
    parts.store.flushall()
    assert parts.runs.find(run.id) == before
    assert [event.kind for event in parts.runs.kept_events(before)] == ["sample", "end"]
    assert parts.runs.latest(5) == [before]


def test_all_that_is_wrong_is_said_at_once(parts: Parts, begin: Begin) -> None:
    with pytest.raises(Invalid) as wrong:
        begin(stock=0, crowd={"buyers": 513, "seconds": 0})
    assert set(wrong.value.errors) == {"stock", "buyers", "seconds"}
    with pytest.raises(UnknownItem):
        begin(item="durian")
    with pytest.raises(UnknownRound):
        parts.rounds.find("apple")
    begin()  # nothing was claimed


def test_without_locust_nobody_can_buy(
    parts: Parts, begin: Begin, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = importlib.util.find_spec
    monkeypatch.setattr(module, "find_spec", lambda name: None if name == "locust" else found(name))
    with pytest.raises(Invalid, match="Locust is not installed here") as wrong:
        begin()
    assert set(wrong.value.errors) == {"buyers"}


def test_a_process_that_cannot_be_started_leaves_the_item_free(parts: Parts, begin: Begin) -> None:
    def fail(_: Run) -> None:
        raise OSError("no more processes")

    with pytest.raises(OSError, match="no more"):
        begin(drive=fail)
    begin()


@pytest.mark.parametrize("id", ["apple-0123456789", "durian-1", "apple", "-", "x"])
def test_unknown_runs(parts: Parts, id: str) -> None:
    with pytest.raises(UnknownRun):
        parts.runs.find(id)


def test_a_round_that_somebody_began_at_that_moment_goes_on(
    parts: Parts, begin: Begin, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever looked, saw the run's own round: looking and ending must be one step."""
    run = begin()
    parts.rounds.start(run.item, "atomic", 5, {})
    monkeypatch.setattr(parts.rounds, "newest", lambda item: run.round)
    parts.runs.end_round(run)
    assert parts.rounds.find(run.item).running
