"""autopipe in every order of its threads' steps, with lost replies and crashes.

Three threads of each of two processes push a word each over one client. badluck knows the gate by
redis-py's layers, so the commands go by autopipe.wire.Layered; the line of threads is the real one.
"""

from __future__ import annotations

from pathlib import Path

import pytest
import redis
from autopipe.line import Line
from badluck import Explorer, Faults, OfEnd, OfState, Program, View
from badluck.findings.rule import Ending

# badluck lets threads wait for events only: a lock that is made of one.
TOGETHER = """
import threading
from types import SimpleNamespace

import autopipe
import redis as errors
from autopipe import call


class Lock:
    def __init__(self):
        self.free = threading.Event()
        self.free.set()

    def acquire(self, timeout=-1.0):
        if not self.free.is_set():
            self.free.wait(None if timeout < 0 else timeout)
        mine = self.free.is_set()
        self.free.clear()
        return mine

    def release(self):
        if self.free.is_set():
            raise RuntimeError("release unlocked lock")
        self.free.set()


def run(redis, name):
    call.threading = SimpleNamespace(Lock=Lock)
    client = autopipe.Redis(connection_pool=redis.connection_pool)
    told = []

    def push(word):
        try:
            client.rpush("log", word)
            told.append(word)
        except (errors.ConnectionError, errors.TimeoutError):
            pass

    threads = [threading.Thread(target=push, args=[f"{name}{number}"]) for number in range(2)]
    for thread in threads:
        thread.start()
    push(f"{name}2")
    for thread in threads:
        thread.join()
    return " ".join(sorted(told))
"""


def _log(view: View) -> list[str]:
    return [word.decode() for word in view.book.keys.get("log", ())]


def _twice(view: View) -> bool:
    return len(set(_log(view))) < len(_log(view))


def _untrue(view: View) -> bool:
    told = {word for _, said in view.told.words for word in said.split()}
    return not told <= set(_log(view))


def _missing(ending: Ending) -> bool:
    told = [word for _, said in ending.view.told.words for word in said.split()]
    return ending.undisturbed and sorted(told) != sorted(_log(ending.view))


WRONG = [
    OfState("twice", "A command was done twice.", _twice),
    OfState("untrue", "A thread was told that it was done, and it was not.", _untrue),
    OfEnd("missing", "Nothing went wrong, and a thread was not told so.", _missing),
]


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Program:
    monkeypatch.setattr("autopipe.call.threading", None)  # which the program sets: set back
    path = tmp_path / "together.py"
    path.write_text(TOGETHER)
    return Program(path, wrong=WRONG, show=["log"])


@pytest.mark.parametrize(
    "faults",
    [Faults(), Faults(lost=1), Faults(lost=2), Faults(crash=1), Faults(lost=1, crash=1, late=1)],
    ids=str,
)
def test_nothing_goes_wrong_in_any_order(program: Program, faults: Faults) -> None:
    report = Explorer(program, 2).explore(faults)
    assert report.exhaustive
    assert report.findings == []


def test_a_line_that_sends_again_is_found_out(
    program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    def again(line: Line, _: redis.RedisError) -> None:
        line._hang_up()
        line.waiting.extendleft(reversed(line.sent))
        line.sent.clear()

    monkeypatch.setattr(Line, "_break", again)
    found = Explorer(program, 2).explore(Faults(lost=1)).findings
    assert [finding.name for finding in found] == ["twice"]


def test_a_line_that_forgets_who_waits_is_found_out(
    program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Line, "_fail", lambda line, calls, _: calls.clear())
    found = Explorer(program, 2).explore(Faults(lost=1)).findings
    assert found
