"""`lastapple transactions` as its user runs it: its output, and that no process or file is left."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import psutil
import pytest

from app.lab.transactions import CASES
from tests.support.servers import until

COMMAND = [sys.executable, "-m", "app.cli", "transactions"]


@pytest.fixture
def folder() -> Iterator[Path]:
    """A TMPDIR of the test's own; pytest's would be too long for a socket's path."""
    with TemporaryDirectory() as name:
        yield Path(name)


def started(
    folder: Path, *words: str, command: list[str] = COMMAND, **environ: str
) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*command, *words],
        env=os.environ | {"TMPDIR": str(folder)} | environ,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def servers(folder: Path) -> list[str]:
    """Return the names of the processes that work in `folder`."""
    return [
        process.info["name"]
        for process in psutil.process_iter(["name", "cmdline"])
        if str(folder) in " ".join(process.info["cmdline"] or ()) or _cwd(process, folder)
    ]


def _cwd(process: psutil.Process, folder: Path) -> bool:
    try:
        return process.cwd().startswith(str(folder))
    except psutil.Error:
        return False


def test_prints_every_case_and_leaves_nothing_behind(folder: Path) -> None:
    command = started(folder)
    printed, errors = command.communicate(timeout=60)
    assert (command.returncode, errors) == (0, "")
    assert printed.count("so: ") == len(CASES)
    assert "current transaction is" in printed
    assert "NOT AS TAUGHT" not in printed
    assert (servers(folder), list(folder.iterdir())) == ([], [])


def test_json_holds_every_statement(folder: Path) -> None:
    printed, _ = started(folder, "--json").communicate(timeout=60)
    results = json.loads(printed)
    assert all(result["as_taught"] for result in results)
    first = {"client": "A", "statement": "MULTI", "reply": "OK", "stock": "3"}
    assert results[0]["valkey"]["steps"][0] == first
    assert results[3]["postgresql"]["before"] == results[3]["postgresql"]["after"] == "3"


def test_a_locale_that_this_machine_has_not_is_no_matter(folder: Path) -> None:
    command = started(folder, LC_ALL="xx_YY.UTF-8")
    _, errors = command.communicate(timeout=60)
    assert (command.returncode, errors) == (0, "")


def folder_made(folder: Path) -> bool:
    return any(folder.iterdir())


def valkey_runs(folder: Path) -> bool:
    return any(folder.glob("*/valkey.sock"))


def postgres_begins(folder: Path) -> bool:
    return any(folder.glob("*/postgres/postmaster.pid"))


def postgres_runs(folder: Path) -> bool:
    return any(folder.glob("*/postgres/.s.PGSQL.5432"))


@pytest.mark.parametrize("moment", [folder_made, valkey_runs, postgres_begins, postgres_runs])
def test_ctrl_c_leaves_nothing_behind(folder: Path, moment: Callable[[Path], bool]) -> None:
    """A terminal sends it to the command and to all that it has started in its group."""
    command = started(folder)
    until(lambda: moment(folder))
    os.killpg(command.pid, signal.SIGINT)
    _, errors = command.communicate(timeout=30)
    assert command.returncode == 130
    assert errors.endswith("Stopped.\n")
    assert "Traceback" not in errors
    assert (servers(folder), list(folder.iterdir())) == ([], [])


@pytest.mark.parametrize("moment", [valkey_runs, postgres_runs])
def test_no_server_outlives_a_killed_command(folder: Path, moment: Callable[[Path], bool]) -> None:
    """Their folder outlives it: no process is left that could remove it."""
    command = started(folder)
    until(lambda: moment(folder))
    command.kill()
    command.communicate(timeout=10)
    until(lambda: not servers(folder))


IN_MID_CASE = """
import os, signal, time
from app.cli import main
from app.lab.transactions import CASES
kind = type(CASES[0])
play = kind.valkey
def interrupted(self, side):
    os.killpg(0, signal.SIGINT)
    time.sleep(0.5)  # for the servers to go down, if they were of our group
    return play(self, side)
kind.valkey = interrupted
main(["transactions"])
"""
BEFORE_IT_IS_NOTED = """
import os, signal, subprocess
from app.cli import main
start = subprocess.Popen.__init__
def interrupted(self, *words, **how):
    start(self, *words, **how)
    os.kill(os.getpid(), signal.SIGINT)
subprocess.Popen.__init__ = interrupted
main(["transactions"])
"""


@pytest.mark.parametrize(("script", "cases"), [(IN_MID_CASE, 1), (BEFORE_IT_IS_NOTED, 0)])
def test_ctrl_c_at_the_worst_moments(folder: Path, script: str, cases: int) -> None:
    """In a case, which is then played to its end; and with a server just started."""
    command = started(folder, command=[sys.executable, "-c", script])
    printed, errors = command.communicate(timeout=30)
    assert (command.returncode, errors) == (130, "Stopped.\n")
    assert printed.count("so: ") == cases
    assert (servers(folder), list(folder.iterdir())) == ([], [])


def test_a_server_that_behaves_otherwise_is_said_loudly(folder: Path) -> None:
    """The expected text is changed here, as the servers cannot be."""
    other = (
        "from app.cli import main; from app.lab.transactions import CASES;"
        "type(CASES[3]).taught = ('the SET before the error is undone', CASES[3].taught[1]);"
        "main(['transactions'])"
    )
    command = started(folder, command=[sys.executable, "-c", other])
    printed, _ = command.communicate(timeout=60)
    assert command.returncode == 1
    assert printed.count("NOT AS TAUGHT. Valkey: the SET before the error stands") == 1
    assert "Taught is: Valkey: the SET before the error is undone" in printed


def test_a_folder_with_too_long_a_name_is_named(folder: Path) -> None:
    deep = folder / ("x" * 90)
    deep.mkdir()
    command = started(deep)
    _, errors = command.communicate(timeout=30)
    assert command.returncode == 1
    assert "set a shorter TMPDIR" in errors
