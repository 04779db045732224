"""The supervisor over real processes: children that die, hang, or are given up."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from app.config import Settings
from app.domain import ROUND_BOUNDS
from app.ops import child as children
from app.ops import logs, process_status, supervise
from app.ops.child import Child
from app.ops.process_status import ProcessState
from app.ops.supervise import MOST_DEATHS, GivenUp, Supervisor
from tests.support.servers import until

LIVES = "exec sleep 600"


def yes() -> bool:
    return True


class Watched:
    """Children under a supervisor of their own, watched as `up` does, but in a thread."""

    def __init__(self, folder: Path, hang_limit: float = 0.0) -> None:
        self.folder = folder
        self.said: list[str] = []
        self.supervisor = Supervisor([], os.environ, self.said.append, folder / "view", hang_limit)
        self.failed: GivenUp | None = None
        self.thread = threading.Thread(target=self._watch)

    def add(
        self, name: str, script: str, answers: Callable[[], bool] = yes, essential: bool = True
    ) -> Child:
        command = ["sh", "-c", script]
        log = self.folder / f"{name}.log"
        made = Child(name, command, log, yes, answers, stage=0, grace=1.0, silence=0.3)
        made.essential = essential
        self.supervisor.children.append(made)
        return made

    def begin(self) -> None:
        for each in self.supervisor.children:
            self.supervisor.start(each)
        self.thread.start()

    def _watch(self) -> None:
        try:
            self.supervisor.watch()
        except GivenUp as error:
            self.failed = error

    def state(self, name: str) -> ProcessState | None:
        """Return the state that other processes read."""
        report = process_status.read(self.supervisor.view)
        processes = report.processes if report else []
        return {each.name: each.state for each in processes}.get(name)

    def end(self) -> None:
        self.supervisor.stopping = True
        if self.thread.ident:
            self.thread.join()
        self.supervisor.stop()


@pytest.fixture
def make(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Watched]]:
    """A supervisor that does everything some twenty times as fast as usual."""
    monkeypatch.setattr(supervise, "PAUSE", 0.01)
    monkeypatch.setattr(supervise, "LONGEST_PAUSE", 0.1)
    monkeypatch.setattr(children, "ASK", 0.05)
    # PR_SET_PDEATHSIG depends on the thread that starts a child, which is one of the tests' here.
    monkeypatch.setattr("servers.process.end_with_parent", lambda: None)
    made: list[Watched] = []

    def new(**options: float) -> Watched:
        made.append(Watched(tmp_path, **options))
        return made[-1]

    yield new
    for each in made:
        each.end()


def test_what_nobody_needs_may_die_for_ever(make: Callable[..., Watched]) -> None:
    watched = make()
    master = watched.add("redlock-1", LIVES, essential=False)
    shop = watched.add("shop", LIVES)
    watched.begin()
    assert shop.process
    first = shop.process.pid
    for death in range(1, MOST_DEATHS + 3):
        until(master.alive)
        master.kill()
        until(lambda: master.deaths == death)
        assert watched.state("redlock-1"), "others read a state of it between its deaths, too"
    until(master.alive)
    master.deaths = 5_000  # one a minute, for days
    master.kill()
    until(lambda: master.deaths == 5_001)
    until(lambda: watched.state("redlock-1") is ProcessState.RUNNING)
    assert watched.failed is None
    assert shop.process.pid == first
    pauses = [float(line.split()[-2]) for line in watched.said if "starting it again" in line]
    assert pauses == sorted(pauses)
    assert pauses[-1] == supervise.LONGEST_PAUSE


def test_what_is_broken_for_good_is_given_up_loudly(make: Callable[..., Watched]) -> None:
    watched = make()
    watched.add("fulfil", "echo no such table; exit 3")
    watched.begin()
    until(lambda: watched.failed)
    assert f"fulfil died {MOST_DEATHS} times" in str(watched.failed)
    assert "    no such table" in str(watched.failed)
    assert "died (exit status 3)" in watched.said[0]


def test_a_passing_cause_ends_nothing(make: Callable[..., Watched]) -> None:
    """A store on a full disk dies as soon as it writes; when there is room again it lives."""
    watched = make()
    full = watched.folder / "full"
    store = watched.add("store", f"test -e {full} && exit 1; {LIVES}")
    watched.begin()
    full.touch()
    store.kill()
    until(lambda: store.deaths == MOST_DEATHS - 2)
    full.unlink()
    until(lambda: watched.state("store") is ProcessState.RUNNING)
    assert watched.failed is None


def test_deaths_take_more_than_a_minute_to_end_the_shop() -> None:
    pauses = [supervise.PAUSE * 3**death for death in range(MOST_DEATHS - 1)]
    assert sum(pauses) > 60
    assert pauses[0] < 0.5, "one that died once is back at once"


def test_one_that_cannot_be_started_is_gone_on_without(make: Callable[..., Watched]) -> None:
    watched = make()
    lab = watched.add("lab", "echo port taken; exit 1", essential=False)
    lab.ready = lambda: False
    nothing = watched.add("nothing", LIVES, essential=False)
    nothing.command = ["/nowhere/at/all"]
    watched.begin()
    assert watched.said[0].startswith("lab ended at its start; going on without it")
    assert "port taken" in watched.said[0]
    assert watched.said[1].startswith("nothing could not be started (No such file")
    until(lambda: nothing.deaths > MOST_DEATHS)
    unwatched = make()  # otherwise the watching thread would start it, too
    shop = unwatched.add("shop", "exit 1")
    shop.ready = lambda: False
    with pytest.raises(GivenUp, match="shop ended at its start"):
        unwatched.supervisor.start(shop)


def test_one_that_hangs_is_named_and_others_are_still_looked_after(
    make: Callable[..., Watched],
) -> None:
    watched = make()
    answering, asked, enough = (threading.Event() for _ in range(3))
    answering.set()

    def hangs() -> bool:
        asked.set()
        return enough.wait(60)

    lab = watched.add("lab", LIVES, answering.is_set)
    stuck = watched.add("stuck", LIVES, hangs)
    other = watched.add("other", LIVES)
    watched.begin()
    until(lambda: watched.state("lab") is ProcessState.RUNNING)
    answering.clear()
    until(lambda: watched.state("lab") is ProcessState.HUNG)
    assert asked.wait(10)
    other.kill()
    until(lambda: other.deaths == 1)
    assert not enough.is_set(), "nobody waited for the question that hangs"
    enough.set()
    answering.set()
    until(lambda: watched.state("lab") is ProcessState.RUNNING)
    assert any(line.startswith("lab runs and has not answered") for line in watched.said)
    assert "lab answers again" in watched.said
    assert lab.deaths == stuck.deaths == 0, "without a limit nobody is killed for his silence"


def test_one_that_hangs_for_too_long_is_killed_and_started_again(
    make: Callable[..., Watched],
) -> None:
    watched = make(hang_limit=0.6)
    frozen: set[int] = set()
    lab = watched.add(
        "lab", LIVES, lambda: lab.process is not None and lab.process.pid not in frozen
    )
    watched.begin()
    assert lab.process
    old = lab.process.pid
    frozen.add(old)
    os.kill(old, signal.SIGSTOP)  # no SIGTERM would reach it
    until(lambda: lab.deaths == 1)
    until(lambda: watched.state("lab") is ProcessState.RUNNING)
    assert lab.process
    assert lab.process.pid != old
    assert any("has not answered" in line and "killing it" in line for line in watched.said)


def test_who_stood_still_himself_blames_nobody(
    make: Callable[..., Watched], monkeypatch: pytest.MonkeyPatch
) -> None:
    """After a machine was paused for an hour, its children are as silent as the supervisor was."""
    watched = make(hang_limit=5)
    lab = watched.add("lab", LIVES, lambda: False)
    watched.begin()
    until(lambda: lab.silent > 0.1)
    real = time.monotonic
    monkeypatch.setattr(time, "monotonic", lambda: real() + 3600)
    time.sleep(0.2)
    assert 0.1 < lab.silent < 2.0
    assert lab.deaths == 0


def test_a_log_is_cut_while_it_is_written(
    make: Callable[..., Watched], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logs, "LARGEST", 300)
    monkeypatch.setattr(supervise, "TOLD", 0.05)
    watched = make()
    watched.add("chatty", "while :; do echo a line that says nothing; sleep 0.001; done")
    watched.begin()
    until(lambda: (watched.folder / "chatty.log.3").exists(), 20)
    assert (watched.folder / "chatty.log").stat().st_size < 3_000


def test_by_default_it_is_longer_than_any_lease() -> None:
    longest = max(ROUND_BOUNDS[name].high for name in ("lease", "think", "wait"))
    assert Settings().hang_limit * 1000 > longest


def test_one_that_does_not_end_is_killed_at_the_stop(make: Callable[..., Watched]) -> None:
    watched = make()
    deaf = watched.add("lab", "trap '' TERM; echo deaf; while :; do sleep 0.1; done")
    watched.begin()
    until(lambda: "deaf" in deaf.log.read_text(), 20)
    watched.end()
    assert not deaf.alive()
    assert watched.said == [
        "lab did not end in 1 s and was killed. "
        "No confirmed sale is lost, unless DURABILITY is fast."
    ]
