"""Ctrl-C as a terminal sends it: to the command and to all that it has started in its group."""

from __future__ import annotations

import os
import pty
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from tests.support.command_line import full_environ
from tests.support.servers import until

SELLS = Path(__file__).parent / "sells"
ENDLESS = "def sell(redis, buyer):\n    n = 0\n    while redis.get('stock'): n += 1\n"
MANY_FAULTS = ("--faults", "crash=3,pause=3,lost=3,failover=3")


class Typed:
    """`lastapple` with these words, on a terminal."""

    def __init__(self, folder: Path, *words: str | Path, script: str = "") -> None:
        self.temporary = folder / "tmp"
        self.temporary.mkdir()
        self.seen = b""
        self.started: set[psutil.Process] = set()
        program = ["-c", script] if script else ["-m", "app.cli"]
        self.terminal, theirs = pty.openpty()
        self.process = subprocess.Popen(
            [sys.executable, *program, *map(str, words)],
            env=full_environ({"TMPDIR": str(self.temporary), "COLUMNS": "100", "TERM": "xterm"}),
            stdout=theirs,
            stderr=theirs,
            start_new_session=True,
        )
        os.close(theirs)
        os.set_blocking(self.terminal, False)

    def look(self) -> bytes:
        """Return all that it has written so far."""
        with suppress(BlockingIOError, OSError):  # nothing more, or the process has ended
            while more := os.read(self.terminal, 65536):
                self.seen += more
        with suppress(psutil.NoSuchProcess):
            self.started |= set(psutil.Process(self.process.pid).children(recursive=True))
        return self.seen

    def ends(self) -> str:
        """Return its last words, when none of its processes is left."""
        until(lambda: self.look() is not None and self.process.poll() is not None, 30)
        said = self.look().decode()
        until(lambda: not [one for one in self.started if alive(one)])
        assert list(self.temporary.iterdir()) == []
        assert "Traceback" not in said
        assert "Exception ignored" not in said
        assert self.process.returncode == 130, said
        return said.rstrip().splitlines()[-1]

    def interrupted(self, moment: Callable[[bytes], bool]) -> str:
        until(lambda: moment(self.look()) or self.process.poll() is not None, 60)
        os.killpg(self.process.pid, signal.SIGINT)
        return self.ends()

    def close(self) -> None:
        os.close(self.terminal)
        self.process.kill()
        self.process.wait()
        for one in self.started:
            if alive(one):
                one.kill()


def alive(process: psutil.Process) -> bool:
    return process.is_running() and process.status() != psutil.STATUS_ZOMBIE


Start = Callable[..., Typed]
Saved = Callable[..., Path]  # the fixture `saved`


@pytest.fixture
def typed(tmp_path: Path) -> Iterator[Start]:
    found: list[Typed] = []

    def start(*words: str | Path, script: str = "") -> Typed:
        found.append(Typed(tmp_path, *words, script=script))
        return found[-1]

    yield start
    for command in found:
        command.close()


def hundreds(seen: bytes) -> bool:
    return re.search(rb"[3-9]\d\d states so far|\d,\d\d\d states so far", seen) is not None


@pytest.mark.parametrize("target", ["lock:queue", "lock:redlock"])
def test_a_long_search(typed: Start, target: str) -> None:
    """The buyers' code is then suspended at hundreds of points, each with its own `finally`."""
    command = typed("explore", target, "--buyers", "4", *MANY_FAULTS)
    assert "nothing was written" in command.interrupted(hundreds)


IN_A_BUYER = """
import os, signal
from app.cli import main
from badluck.actor.connection import GateConnection
send, sent = GateConnection._send, []
def interrupted(connection, commands):
    sent.append(commands)
    if len(sent) == 5:
        os.killpg(0, signal.SIGINT)
    return send(connection, commands)
GateConnection._send = interrupted
main()
"""


@pytest.mark.parametrize("target", ["lock:queue", "lock:lease", "watch"])
def test_in_the_midst_of_a_buyers_code(typed: Start, target: str) -> None:
    assert "nothing was written" in typed("explore", target, script=IN_A_BUYER).ends()


IN_A_DESTRUCTOR = """
import os, signal
from app.cli import main
from badluck.explorer import Explorer
class Collected:
    def __del__(self):
        os.killpg(0, signal.SIGINT)
        for _ in range(1_000):  # the interrupt is raised in here
            pass
explore = Explorer.explore
def interrupted(explorer, *words):
    Collected()
    return explore(explorer, *words)
Explorer.explore = interrupted
main()
"""


def test_where_python_passes_over_it(typed: Start) -> None:
    """An exception in a destructor is dropped, so it must be raised again."""
    command = typed("explore", "lock:redlock", *MANY_FAULTS, script=IN_A_DESTRUCTOR)
    assert "nothing was written" in command.ends()


def test_a_file_of_ones_own(typed: Start, tmp_path: Path) -> None:
    own = tmp_path / "my_sell.py"
    own.write_text(ENDLESS)
    command = typed("explore", own)
    said = command.interrupted(lambda _: any(alive(one) for one in command.started))
    assert "nothing was written" in said


def working(command: Typed) -> list[psutil.Process]:
    """Return the matrix' processes."""
    return [one for one in command.started if "spawn_main" in " ".join(one.cmdline())]


def test_the_matrix(typed: Start) -> None:
    """Ctrl-C comes as soon as its processes begin, when they still load modules."""
    command = typed("explore", "--matrix")
    said = command.interrupted(lambda _: bool(working(command)))
    assert "A matrix is shown only when it is complete" in said


def test_the_matrix_at_work(typed: Start) -> None:
    """One of its processes hangs, and is not waited for."""
    command = typed("explore", "--matrix")
    until(lambda: command.look() is not None and working(command), 60)
    working(command)[0].suspend()
    command.interrupted(lambda _: any(sum(one.cpu_times()[:2]) > 2 for one in working(command)))


IN_A_SCHEDULE = """
import os, signal
from app.cli import main
from badluck.real_server.backend import RealBackend
from badluck.report.model_backend import ModelBackend
for where in (RealBackend, ModelBackend):
    def interrupted(stage, name, commands, send=where.send):
        os.killpg(0, signal.SIGINT)
        return send(stage, name, commands)
    where.send = interrupted
main()
"""
BEFORE_IT_IS_NOTED = """
import os, signal, subprocess
from app.cli import main
start = subprocess.Popen.__init__
def interrupted(self, *words, **how):
    start(self, *words, **how)
    os.killpg(0, signal.SIGINT)
subprocess.Popen.__init__ = interrupted
main()
"""
AS_THE_FOLDER_GOES = """
import os, signal, tempfile
from app.cli import main
remove = tempfile.TemporaryDirectory._rmtree
def interrupted(*words, **how):
    os.killpg(0, signal.SIGINT)
    remove(*words, **how)
tempfile.TemporaryDirectory._rmtree = staticmethod(interrupted)
main()
"""


@pytest.mark.usefixtures("virtual_clock")
@pytest.mark.parametrize(
    ("target", "script"),
    [
        ("lock:setnx", IN_A_SCHEDULE),
        ("lock:setnx", BEFORE_IT_IS_NOTED),  # the compiler gets it as well
        ("lock:setnx", AS_THE_FOLDER_GOES),
        (SELLS / "watchdog.py", BEFORE_IT_IS_NOTED),
        (SELLS / "watchdog.py", AS_THE_FOLDER_GOES),
    ],
    ids=["in a schedule", "starting", "leaving", "own starting", "own leaving"],
)
def test_a_replay(typed: Start, saved: Saved, target: str | Path, script: str) -> None:
    assert typed("replay", saved(str(target)), script=script).ends() == "Stopped."


def test_a_replay_in_the_model(typed: Start, saved: Saved) -> None:
    command = typed("replay", saved("lock:setnx"), "--on", "model", script=IN_A_SCHEDULE)
    assert command.ends() == "Stopped."
