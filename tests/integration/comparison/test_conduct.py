"""The comparison runner, with runs whose processes do nothing: when it continues or gives up."""

from __future__ import annotations

import subprocess
import threading
from collections.abc import Callable
from dataclasses import replace

import pytest

from app.bootstrap import Services
from app.config import Settings
from app.lab.comparison import conduct as module
from app.lab.comparison.conduct import Conduct
from app.lab.comparison.record import Comparison
from app.lab.stampede.drivers import Drivers
from app.lab.stampede.record import How, Run

RUNS_ON = ["valkey"]
Compare = Callable[..., Comparison]
Deed = Callable[[Run], None]


class Idle(Drivers):
    """Processes that do nothing and have ended, or last; `deed` is done to the run before."""

    def __init__(
        self, settings: Settings, services: Services, deed: Deed, last: bool = False
    ) -> None:
        super().__init__(settings)
        self.services = services
        self.deed = deed
        self.last = last

    def launch(self, kind: str, id: str) -> None:
        self.deed(self.services.runs.find(id))
        self.children.append(subprocess.Popen(["sleep", "60" if self.last else "0"]))
        if not self.last:
            self.children[-1].wait()


@pytest.fixture
def conducted(
    services: Services, settings: Settings, compare: Compare
) -> Callable[..., Comparison]:
    """Start a comparison, run it here, and return it as it ended."""

    def conduct(deed: Deed, stop: threading.Event | None = None, last: bool = False) -> Comparison:
        mine = compare()
        drivers = Idle(settings, services, deed, last)
        Conduct(services.comparisons, drivers, stop or threading.Event()).run(mine)
        assert all(child.poll() is not None for child in drivers.children), "nothing is left"
        return services.comparisons.find(mine.id)

    return conduct


def finished(services: Services) -> Deed:
    def finish(run: Run) -> None:
        services.runs.finish(replace(run, how=How.FINISHED, figures={"overall": 50.0}))

    return finish


def test_to_the_end(services: Services, conducted: Callable[..., Comparison]) -> None:
    ended = conducted(finished(services))
    assert (ended.how, ended.run) == (How.FINISHED, "")
    assert [each.mode for each in ended.results] == ["naive", "watch", "watch", "naive"]
    assert {each.goodput for each in ended.results} == {50.0}
    assert services.comparisons.on() is None


def test_after_one_that_died_it_goes_on_after_two_in_a_row_it_does_not(
    services: Services, conducted: Callable[..., Comparison]
) -> None:
    def die(run: Run) -> None:
        pass

    deeds = iter([finished(services), die, finished(services), die])
    ended = conducted(lambda run: next(deeds)(run))
    assert ended.how == How.FINISHED
    assert [each.how for each in ended.results] == ["finished", "crashed", "finished", "crashed"]
    died = conducted(die)
    assert (died.how, len(died.results)) == (How.FAILED, 2)


def test_another_round_of_the_item_is_left_alone(
    services: Services, conducted: Callable[..., Comparison]
) -> None:
    def and_somebody_comes(run: Run) -> None:
        finished(services)(run)
        services.rounds.start("apple", "watch", 7, {})

    ended = conducted(and_somebody_comes)
    assert (ended.how, len(ended.results)) == (How.OVERTAKEN, 1)
    left = services.rounds.find("apple")
    assert (left.running, left.stock) == (True, 7)


def test_a_round_ended_by_hand_ends_it(
    services: Services, conducted: Callable[..., Comparison]
) -> None:
    ended = conducted(lambda run: services.runs.finish(replace(run, how=How.OVERTAKEN)))
    assert (ended.how, len(ended.results)) == (How.OVERTAKEN, 1)


def test_stopped_between_two_runs(services: Services, conducted: Callable[..., Comparison]) -> None:
    def and_stop(run: Run) -> None:
        finished(services)(run)
        services.comparisons.stop(run.comparison)

    ended = conducted(and_stop)
    assert (ended.how, len(ended.results)) == (How.STOPPED, 1)


def test_what_cannot_be_started_is_told(conducted: Callable[..., Comparison]) -> None:
    def fail(run: Run) -> None:
        raise OSError("no more processes")

    ended = conducted(fail)
    assert (ended.how, ended.why, ended.results) == (How.FAILED, "no more processes", [])


@pytest.mark.parametrize("goes", [True, False])
def test_a_run_that_is_in_the_way_is_waited_for_but_not_for_ever(
    services: Services,
    settings: Settings,
    compare: Compare,
    monkeypatch: pytest.MonkeyPatch,
    goes: bool,
) -> None:
    """Such a run is our own: the answer to its start was lost."""
    monkeypatch.setattr(module, "SERVER_BACK_S", 0.3)
    mine = compare()
    crowd = {"buyers": 1, "seconds": 1}
    other = services.runs.start("apple", "naive", 5, {}, crowd, lambda run: None, mine.id)

    class Waited(threading.Event):
        def wait(self, timeout: float | None = None) -> bool:
            if goes:
                services.store.delete(other.keys.heartbeat)
            return super().wait(timeout)

    Conduct(services.comparisons, Idle(settings, services, finished(services)), Waited()).run(mine)
    ended = services.comparisons.find(mine.id)
    assert ended.how == (How.FINISHED if goes else How.FAILED)
    assert ("A stampede on this item is on" in ended.why) != goes


@pytest.mark.parametrize("last", [True, False])
def test_when_the_lab_is_stopped_it_stops_with_it(
    services: Services, conducted: Callable[..., Comparison], last: bool
) -> None:
    stop = threading.Event()
    ended = conducted(lambda run: stop.set(), stop, last)
    assert ended.how == How.INTERRUPTED
    assert len(ended.results) == (not last), "no other run was started"
