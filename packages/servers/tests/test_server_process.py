"""Servers that start, servers that do not, and what is left of them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest
import redis
from servers.family import command_line, family, kill
from servers.ports import free_port
from servers.process import NotStarted, Server, end, start
from servers.valkey import Valkey
from servers.waiting import until

SLEEP = [sys.executable, "-c", "import time; print('sleeps', flush=True); time.sleep(600)"]


def test_a_killed_server_starts_again_with_what_it_acknowledged(tmp_path: Path) -> None:
    with Valkey(tmp_path) as valkey, valkey.client() as client:
        client.set("apples", 1)
        valkey.kill()
        assert not valkey.runs()
        valkey.restore()
        assert client.get("apples") == b"1"
    assert not valkey.runs()


def test_a_frozen_server_is_silent_until_it_is_restored(tmp_path: Path) -> None:
    with Valkey(tmp_path) as valkey:
        valkey.freeze()
        status = psutil.Process(valkey.process.pid).status()
        assert status == psutil.STATUS_STOPPED
        valkey.restore()
        with valkey.client() as client:
            assert client.ping()


def test_a_server_that_is_frozen_stops_in_order(tmp_path: Path) -> None:
    with Valkey(tmp_path) as valkey:
        valkey.freeze()
    assert valkey.process.returncode == 0


def test_a_server_that_ends_by_itself_is_not_started_and_says_why(tmp_path: Path) -> None:
    with pytest.raises(NotStarted, match=r"valkey-server does not start:\n(?s:.+)no-such-option"):
        Valkey(tmp_path, "--no-such-option", "1")


def test_a_server_that_never_answers_is_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Server, "seconds", 0.1)
    with pytest.raises(NotStarted):
        Server(SLEEP, tmp_path / "log")
    assert not [one for one in psutil.Process().children() if "sleeps" in command_line(one)]


def test_a_process_ends_with_its_parent(tmp_path: Path) -> None:
    code = f"from servers.process import start; print(start({SLEEP!r}).pid, flush=True); input()"
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as parent:
        assert parent.stdout
        child = int(parent.stdout.readline())
        parent.kill()
    until(lambda: not psutil.pid_exists(child) or _zombie(child))


def _zombie(pid: int) -> bool:
    return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE


def test_a_process_that_ignores_a_signal_is_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("servers.process.STOP", 0.1)
    deaf = f"import signal; signal.signal(signal.SIGINT, signal.SIG_IGN); {SLEEP[2]}"
    log = tmp_path / "log"
    process = start([sys.executable, "-c", deaf], log)
    until(log.read_bytes)
    end(process)
    assert process.returncode == -signal.SIGKILL


def test_a_family_is_killed_with_its_children() -> None:
    code = f"import subprocess, sys; subprocess.Popen({SLEEP!r}); import time; time.sleep(600)"
    process = start([sys.executable, "-c", code])
    until(lambda: len(family(process.pid)) == 2)
    members = family(process.pid)
    kill(members)
    process.wait()
    assert not any(one.is_running() for one in members)
    assert family(process.pid) == []


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a port is only free for a moment")
def test_a_port_is_given_once(tmp_path: Path) -> None:
    ports = {free_port() for _ in range(100)}
    assert len(ports) == 100
    with Valkey(tmp_path, port=ports.pop()) as valkey, redis.Redis(port=valkey.port) as client:
        assert client.info("server")["process_id"] == valkey.process.pid
    assert os.getpid() != valkey.process.pid
