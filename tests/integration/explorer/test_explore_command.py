"""`lastapple explore` and `lastapple replay`, as a user types them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.command_line import full_environ, run

Saved = Callable[..., Path]  # the fixture `saved`
MEMBERS = {
    *("target", "actors", "stock", "faults", "exhaustive", "inconclusive"),
    *("schedules", "states", "seconds", "findings"),
}


def lastapple(*words: str) -> subprocess.CompletedProcess[str]:
    return run(*words, COLUMNS="100")


def test_a_finding_is_drawn_and_ends_with_1() -> None:
    done = lastapple("explore", "lock:lease")
    assert done.returncode == 1, done.stderr
    assert done.stdout.startswith("lock:lease: OVERSELL, with 1 fault, 3 switches and 7 steps.")
    assert "ALL PAUSE for 10.0 s" in done.stdout
    assert "write.lua stock sales order:order-A" in done.stdout
    assert "all of them looked at" in done.stdout
    assert done.stderr == ""


def test_nothing_found_ends_with_0() -> None:
    done = lastapple("explore", "watch", "--buyers", "3", "--faults", "none")
    assert done.returncode == 0, done.stderr
    assert "23,316 schedules" in done.stdout


def test_the_document() -> None:
    done = lastapple("explore", "lock", "--faults", "pause=1,crash=1", "--json", "-")
    assert done.returncode == 1
    document = json.loads(done.stdout)
    assert set(document) >= MEMBERS
    assert document["target"] == "lock:lease"
    assert document["exhaustive"]
    assert not document["inconclusive"]
    worst = document["findings"][0]
    assert (worst["name"], worst["cost"]) == ("oversell", [1, 3, 7])
    assert worst["explanation"]
    assert len(worst["trace"]) == 7


def test_bad_input_ends_with_2() -> None:
    """More of it in tests/unit/explorer/test_explore_inputs.py."""
    done = lastapple("explore", "magic")
    assert done.returncode == 2
    assert "magic" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.usefixtures("virtual_clock")
def test_what_was_saved_is_played_again(saved: Saved) -> None:
    for on, where in (("server", "a real Valkey"), ("model", "the model")):
        done = lastapple("replay", str(saved("lock:setnx")), "--on", on)
        assert done.returncode == 0, done.stderr
        assert f"2 schedules of lock:setnx on {where}: 0 divergences" in done.stdout
        assert "X CRASHES, forever" in done.stdout


def test_a_saved_file_that_was_changed(tmp_path: Path, saved: Saved) -> None:
    file = tmp_path / "trace.json"
    document = json.loads(saved("lock:lease").read_text())
    document["findings"][0]["trace"][3]["said"] = ["nil"]
    file.write_text(json.dumps(document))
    done = lastapple("replay", str(file), "--on", "model")
    assert done.returncode == 1
    assert "DIVERGED at this step" in done.stdout
    for nonsense in ('{"target": "watch"}', "no JSON", "[]"):
        file.write_text(nonsense)
        done = lastapple("replay", str(file))
        assert done.returncode == 2
        assert "`lastapple explore --save`" in done.stderr


FAILS_IN_A_SCHEDULE = """
import psutil, sys
from app.cli import main
from badluck.real_server.backend import RealBackend
from tests.support.command_line import run
send, sent = RealBackend.send, []
def failing(stage, name, commands):
    sent.append(commands)
    if len(sent) == 2:
        for server in psutil.Process().children():
            getattr(server, sys.argv[3])()
    return send(stage, name, commands)
RealBackend.send = failing
main(sys.argv[1:3])
"""


@pytest.mark.usefixtures("virtual_clock")
@pytest.mark.parametrize("how", ["kill", "suspend"])
def test_a_server_that_fails_in_a_schedule(tmp_path: Path, saved: Saved, how: str) -> None:
    """It is killed, or stops answering: then we wait for its answer and for its end."""
    done = subprocess.run(
        [sys.executable, "-c", FAILS_IN_A_SCHEDULE, "replay", saved("lock:lease"), how],
        env=full_environ({"TMPDIR": str(tmp_path)}),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 1
    assert done.stderr.startswith("Error: A real server failed in the middle of a schedule: ")
    assert len(done.stderr.splitlines()) == 1
    assert list(tmp_path.iterdir()) == []


def test_who_reads_the_head_only_has_his_file(tmp_path: Path) -> None:
    file = tmp_path / "trace.json"
    reader, writer = os.pipe()
    os.close(reader)
    with open(writer, "wb") as closed:
        subprocess.run(
            [sys.executable, "-m", "app.cli", "explore", "lock:lease", "--save", str(file)],
            env=full_environ({}),
            stdout=closed,
            stderr=subprocess.PIPE,
            timeout=60,
            check=False,
        )
    assert json.loads(file.read_text())["findings"]
