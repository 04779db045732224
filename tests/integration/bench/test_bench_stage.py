"""The server and the workers of a run: they come, they fail in words, they go."""

from __future__ import annotations

import os
import signal
import tempfile
from pathlib import Path

import pytest
import redis

from app.bench import BenchFailed, server
from app.bench.cell import Task
from app.bench.contender import Names
from app.bench.rows import ROWS
from app.bench.run import stage
from app.store import embedded
from tests.servers import StoreServer


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where everything temporary goes."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def test_ctrl_c_while_leaving_does_not_interrupt_it(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with stage(2) as (_store, crew):
        processes = [member.process for member in crew.members]
        kill = processes[0].kill

        def impatiently() -> None:
            signal.raise_signal(signal.SIGINT)
            kill()

        monkeypatch.setattr(processes[0], "kill", impatiently)
    assert [process.poll() for process in processes] == [-signal.SIGKILL] * 2
    assert not list(folder.iterdir())
    with pytest.raises(KeyboardInterrupt):  # from now on it counts again
        signal.raise_signal(signal.SIGINT)


def test_a_worker_that_says_nothing_is_not_waited_for_without_end() -> None:
    with (
        stage(1) as (_store, crew),
        pytest.raises(BenchFailed, match=r"did not answer within 0 s"),
    ):
        crew.members[0].hear(0.1)


def test_a_worker_that_died_between_cells() -> None:
    with stage(1) as (_store, crew):
        crew.members[0].process.kill()
        crew.members[0].process.wait()
        with pytest.raises(BenchFailed, match="A worker failed"):
            crew.members[0].say(Task(ROWS["lease"], Names.of("a"), 1))


def test_a_server_that_does_not_start(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedded, "binary", lambda: Path("/bin/false"))
    with pytest.raises(BenchFailed, match="does not start"), stage(1):
        pass
    assert not list(folder.iterdir())


def test_somebody_elses_server_on_the_port_is_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between our look for a free port and the server's start, somebody took it."""
    other = StoreServer(tmp_path / "other", appendfsync="no")
    try:
        monkeypatch.setattr(server, "free_port", lambda: other.port)
        with pytest.raises(BenchFailed, match=r"does not start: .*port"), stage(1):
            pass
    finally:
        other.stop()


def test_nothing_is_written_to_disk() -> None:
    with stage(1) as (store, _crew):
        assert store.config_get("appendonly") == {"appendonly": "no"}
        assert store.config_get("save") == {"save": ""}
        assert "nothing written to disk" in server.about(store)


def test_a_server_that_died_between_cells() -> None:
    def begin_another(store: redis.Redis) -> None:
        os.kill(store.info("server")["process_id"], signal.SIGKILL)
        store.flushall()

    with pytest.raises(BenchFailed, match="does not answer"), stage(1) as (store, _crew):
        begin_another(store)
