"""The server and the workers of a run: they start, they fail with a message, they end."""

from __future__ import annotations

import os
import signal
import tempfile
from pathlib import Path

import pytest
import redis

from app.config import Settings
from app.store import embedded
from loadtest.bench import BenchFailed, extra_servers, server
from loadtest.bench.cell import Task
from loadtest.bench.contender import Names
from loadtest.bench.rows import ROWS
from loadtest.bench.run import stage
from tests.support.servers import StoreServer, free_port
from tests.support.zookeeper import ZooKeeperServer


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder for everything temporary."""
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
    with stage(1) as (_store, crew), pytest.raises(BenchFailed, match=r"did not answer within 0 s"):
        crew.members[0].hear(0.1)


def test_a_worker_that_died_between_cells() -> None:
    with stage(1) as (_store, crew):
        crew.members[0].process.kill()
        crew.members[0].process.wait()
        with pytest.raises(BenchFailed, match="A worker failed"):
            crew.members[0].say(Task(ROWS["lease"], Names.of("a"), Settings(), 1))


def test_a_server_that_does_not_start(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedded, "binary", lambda: Path("/bin/false"))
    with pytest.raises(BenchFailed, match="does not start"), stage(1):
        pass
    assert not list(folder.iterdir())


def test_somebody_elses_server_on_the_port_is_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another process took the free port before our server could listen on it."""
    with StoreServer(tmp_path / "other", appendfsync="no") as other:
        monkeypatch.setattr("servers.valkey.free_port", lambda: other.port)
        with pytest.raises(BenchFailed, match=r"(?s)does not start:.*port"), stage(1):
            pass


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


def test_a_master_that_died_is_not_passed_over() -> None:
    """The bench fails: the other two would sell on, at another pace than three."""

    def kill(url: str) -> None:
        with redis.Redis.from_url(url) as master:
            pid = master.info("server")["process_id"]
        os.kill(pid, signal.SIGKILL)
        os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)  # until the last of its threads is gone

    with (
        pytest.raises(BenchFailed, match="ended before its time"),
        stage(1, {"masters"}) as (_store, crew),
    ):
        kill(crew.settings.masters[2])


def test_three_masters_and_a_database_of_the_runs_own(folder: Path) -> None:
    with stage(1, {"masters", "database"}) as (store, crew):
        ports = {int(url.rpartition(":")[2].partition("/")[0]) for url in crew.settings.masters}
        assert len(ports | {store.connection_pool.connection_kwargs["port"]}) == 4
        assert list(folder.glob("*/orders.db"))
    assert not list(folder.iterdir())


def test_a_zookeeper_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extra_servers, "CONNECT", 0.5)
    hosts = f"127.0.0.1:{free_port()}"
    with (
        pytest.raises(BenchFailed, match=rf"ZooKeeper \({hosts}\) does not answer"),
        stage(1, {"zookeeper"}, hosts),
    ):
        pass


def test_the_runs_nodes_are_gone_from_zookeeper_though_its_workers_were_killed(
    zookeeper: ZooKeeperServer,
) -> None:
    def nodes() -> int:
        return zookeeper.figure("zk_znode_count")

    before = nodes()
    with stage(1, {"zookeeper"}, zookeeper.hosts) as (_store, crew):
        crew.members[0].say(Task(ROWS["zookeeper"], Names.of("a"), crew.settings, 2))
        crew.members[0].hear(30)  # ready: each thread has held a lock of its own
        assert nodes() > before + 2
    assert nodes() == before
