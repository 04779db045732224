"""The end of a shop, with real processes."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest
from servers import process

from loadtest import RunFailed, shop

TIDY = """
import pathlib, signal, sys, time
def leave(*_):
    pathlib.Path(sys.argv[1]).write_text("left in order")
    sys.exit()
signal.signal(signal.SIGINT, leave)
print("ready", flush=True)
time.sleep(60)
"""

# Ignores SIGINT, and so does its child, which has a session of its own as gunicorn's may.
STUBBORN = """
import signal, subprocess, sys, time
signal.signal(signal.SIGINT, signal.SIG_IGN)
if len(sys.argv) > 1:
    child = subprocess.Popen([sys.executable, sys.argv[0]], start_new_session=True)
    print(child.pid, flush=True)
time.sleep(60)
"""


def start(*command: str) -> subprocess.Popen[bytes]:
    return process.start([sys.executable, *command], stdout=subprocess.PIPE)


def test_stopping_lets_the_shop_leave_in_order(tmp_path: Path) -> None:
    left = tmp_path / "left"
    with start("-c", TIDY, str(left)) as up:
        assert up.stdout is not None
        up.stdout.readline()
        shop.stop(up)
    assert left.read_text() == "left in order"


def test_whoever_does_not_leave_is_killed_with_its_children(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shop, "STOP_LIMIT", 0.5)
    script = tmp_path / "stubborn.py"
    script.write_text(STUBBORN)
    with start(str(script), "parent") as up:
        assert up.stdout is not None
        child = psutil.Process(int(up.stdout.readline()))
        begin = time.monotonic()
        shop.stop(up)
    assert time.monotonic() - begin >= 0.5
    assert not child.is_running() or child.status() == psutil.STATUS_ZOMBIE


def test_a_shop_that_died_is_told_with_its_last_words(tmp_path: Path) -> None:
    log = tmp_path / "up.log"
    log.write_text("".join(f"line {number}\n" for number in range(100)) + "Port in use\n")
    with start("-c", "raise SystemExit(3)") as process:
        process.wait()
        dead = shop.OwnShop.__new__(shop.OwnShop)
        dead.process, dead.log, dead.begun = process, log, 0
        with pytest.raises(RunFailed, match=r"stopped by itself \(status 3\)") as failed:
            dead.check()
    assert str(failed.value).endswith("line 99\nPort in use\n")
