"""The processes behind the explorer's pages: killed, frozen, used by many, left alone."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator

import psutil
import pytest
from badluck.faults import Faults
from servers.family import command_line

from app.lab.explorer import searches as service
from app.lab.explorer.search_process import ExplorerProcess, Gone
from app.lab.explorer.searches import Explorer, Unreachable, Wanted
from tests.support.servers import until

LEASE = Wanted("lock:lease", 2, Faults(crash=1, pause=1))


@pytest.fixture
def explorer() -> Iterator[Explorer]:
    explorer = Explorer()
    yield explorer
    explorer.close()


def killed(beside: ExplorerProcess) -> int:
    assert beside.child
    process = beside.child.process
    process.kill()
    process.wait(5)
    return process.pid


def test_the_player_is_killed_while_somebody_looks(explorer: Explorer) -> None:
    first = explorer.play(LEASE, "A")
    pid = killed(explorer.player)
    assert explorer.play(LEASE, "AA")["moves"] == ["A", "A"]
    assert explorer.player.child
    assert explorer.player.child.process.pid != pid
    explorer.played.clear()  # otherwise the answer comes from the cache
    assert explorer.play(LEASE, "A") == first


def test_the_searcher_is_killed_while_it_searches(explorer: Explorer) -> None:
    wanted = Wanted("lock:redlock", 2, Faults(crash=1, pause=1))
    assert explorer.explored(wanted, 0) is None
    killed(explorer.searcher)
    assert explorer.explored(LEASE, 0) is None, "waits behind the other"
    killed(explorer.searcher)
    until(lambda: explorer.explored(LEASE, 0.2) is not None, 20)
    given_up = explorer.explored(wanted, 0)
    assert given_up
    assert given_up.report is None, "it has ended its process twice"


def test_a_process_that_hangs_is_replaced(
    explorer: Explorer, monkeypatch: pytest.MonkeyPatch
) -> None:
    explorer.play(LEASE, "")
    monkeypatch.setattr(explorer.player, "hangs_s", 0.3)
    assert explorer.player.child
    pid = explorer.player.child.process.pid
    os.kill(pid, signal.SIGSTOP)
    assert explorer.play(LEASE, "AA")["moves"] == ["A", "A"]
    assert not psutil.pid_exists(pid)


def test_who_dies_at_each_question_is_given_up(explorer: Explorer) -> None:
    nobody = LEASE._replace(target="lock:nobody")
    with pytest.raises(Unreachable):
        explorer.play(nobody, "")
    assert explorer.play(LEASE, "")["moves"] == []


def test_not_everybody_may_wait(explorer: Explorer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service, "WAITING", 2)
    wanted = Wanted("lock:redlock", 2, Faults(crash=1, pause=1))
    assert explorer.explored(wanted, 0) is None
    assert explorer.explored(LEASE, 0) is None
    with pytest.raises(Unreachable):
        explorer.explored(LEASE._replace(target="naive"), 0)
    explorer.waiting = 2
    with pytest.raises(Unreachable):
        explorer.play(LEASE, "A")


def test_twenty_play_at_once(explorer: Explorer) -> None:
    said: list[int] = []

    def ask(moves: str) -> None:
        said.append(len(explorer.play(LEASE, moves)["places"]))

    # Not the first question: the process ends with the thread that started it.
    explorer.play(LEASE, "")
    threads = [threading.Thread(target=ask, args=("A" * (n % 4),)) for n in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert sorted(said) == sorted(1 + n % 4 for n in range(20))


def test_nothing_is_left_when_it_is_closed(explorer: Explorer) -> None:
    explorer.play(LEASE, "")
    explorer.explored(LEASE, 0)
    ours = [
        each for each in psutil.Process().children() if "app.explorer.desk" in command_line(each)
    ]
    assert len(ours) >= 2
    pids = [
        beside.child.process.pid for beside in (explorer.player, explorer.searcher) if beside.child
    ]
    explorer.close()
    assert not any(psutil.pid_exists(pid) for pid in pids)


def test_asked_of_one_that_is_gone(explorer: Explorer) -> None:
    with pytest.raises(Gone):
        explorer.player.answer(0)


def test_the_end_of_the_lab_is_the_end_of_the_process() -> None:
    """Its input ends, and so does the process, even where the system sends no signal."""
    beside = ExplorerProcess(5)
    beside.ask({"do": "play", "target": "naive", "buyers": 2, "moves": ""})
    assert beside.answer(15)
    assert beside.child
    process = beside.child.process
    beside.child.asks.close()
    assert process.wait(5) == 0
    beside.close()
