"""Whatever happens to the harness, none of its processes keeps running."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import psutil

from tests.support.servers import until

# A harness with a process that has a child; both are frozen.
HARNESS = """
import os, sys, time
from pathlib import Path
from loadtest.chaos.process import Process, Reaper
folder = Path(sys.argv[1])
reaper = Reaper(folder)
process = Process(reaper, ["sh", "-c", "sleep 600 & sleep 600"], folder / "log", os.environ)
process.start()
# The shell is in no state to be stopped before its children have become what they are to be: vfork.
while [each.name() for each in process.family()] != ["sh", "sleep", "sleep"]:
    time.sleep(0.01)
process.freeze()
print(*(each.pid for each in process.family()), reaper.process.pid, flush=True)
if sys.argv[2] == "ends":
    process.kill()
    reaper.done()
else:
    time.sleep(600)
"""


def harness(folder: Path, fate: str) -> tuple[subprocess.Popen[str], list[psutil.Process]]:
    folder.mkdir()
    process = subprocess.Popen(
        [sys.executable, "-c", HARNESS, str(folder), fate], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout
    with process.stdout as said:
        return process, [psutil.Process(int(pid)) for pid in said.readline().split()]


def gone(processes: list[psutil.Process]) -> bool:
    return not any(each.is_running() and each.status() != "zombie" for each in processes)


def test_a_killed_harness(tmp_path: Path) -> None:
    folder = tmp_path / "shop"
    process, started = harness(folder, "waits")
    # The system stops each thread of a process at its next turn.
    until(lambda: {each.status() for each in started[:3]} == {"stopped"})
    process.kill()
    process.wait()
    until(lambda: gone(started), said=f"{started} are left")
    until(lambda: not folder.exists())


def test_a_harness_that_ends_in_order(tmp_path: Path) -> None:
    process, started = harness(tmp_path / "shop", "ends")
    assert process.wait(10) == 0
    assert gone(started)
    assert (tmp_path / "shop").exists(), "it is the harness's own to remove"


def test_the_reaper_outlives_a_terminal(tmp_path: Path) -> None:
    process, started = harness(tmp_path / "shop", "waits")
    for number in (signal.SIGINT, signal.SIGTERM):
        started[-1].send_signal(number)
    process.kill()
    process.wait()
    until(lambda: gone(started))
