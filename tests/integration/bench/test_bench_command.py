"""`lastapple bench locks`: as an engineer runs it, and as he stops it."""

from __future__ import annotations

import json
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from tests.support import command_line
from tests.support.command_line import run
from tests.support.servers import until
from tests.support.zookeeper import ZooKeeperServer

LOCKS = ("bench", "locks")
MEMBERS = {
    *("name", "processes", "threads", "sales_per_s", "ratio", "p50_ms", "p99_ms", "longest_ms"),
    *("fairness", "round_trips_per_sale", "commands_per_sale", "oversold"),
    *("ratio_min", "ratio_max", "p99_ratio", "fairness_max"),
}


def test_a_short_run_for_programs_and_for_people() -> None:
    some = ("--only", "lease,redis-py", "--shapes", "1x2", "--seconds", "1", "--repeats", "1")
    done = run(*LOCKS, *some, "--json", "-")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert set(document) == {"rows", "machine", "server"}
    rows = {row["name"]: row for row in document["rows"]}
    assert list(rows) == ["lease", "redis-py", "python-redis-lock"]
    for row in rows.values():
        assert set(row) == MEMBERS
        assert (row["processes"], row["threads"], row["oversold"]) == (1, 2, 0)
        assert row["sales_per_s"] > 0
        assert row["round_trips_per_sale"] >= 4
    assert rows["python-redis-lock"]["ratio"] == 1
    for text in ("1 process × 2 threads", "How to read it", "nothing written to disk", "█"):
        assert text in done.stderr


def begin(
    folder: Path, *more: str, servers: int = 1, **environ: str
) -> tuple[subprocess.Popen[str], list[psutil.Process]]:
    """Start a long run; return its process and all that it started, in the middle of a cell."""
    words = (*LOCKS, "--only", "redis-py", "--shapes", "2x2", "--seconds", "60", *more)
    running = command_line.begin(*words, TMPDIR=str(folder), **environ)
    me = psutil.Process(running.pid)

    def working() -> bool:
        """Do its servers and its two workers run, with two threads each?"""
        family = me.children(recursive=True)
        return len(family) == servers + 2 and all(one.num_threads() >= 3 for one in family)

    until(working, 60)
    return running, me.children(recursive=True)


def interrupt(running: subprocess.Popen[str], _family: list[psutil.Process]) -> None:
    running.send_signal(signal.SIGINT)


def terminate(running: subprocess.Popen[str], _family: list[psutil.Process]) -> None:
    running.send_signal(signal.SIGTERM)


def kill_a_worker(_running: subprocess.Popen[str], family: list[psutil.Process]) -> None:
    next(one for one in family if "loadtest.bench.worker" in one.cmdline()).kill()


def kill_the_server(_running: subprocess.Popen[str], family: list[psutil.Process]) -> None:
    next(one for one in family if "loadtest.bench.worker" not in one.cmdline()).kill()


@pytest.mark.parametrize(
    ("end", "status", "said"),
    [
        (interrupt, 130, "Stopped; nothing was written."),
        (terminate, 143, ""),
        (kill_a_worker, 1, "redis-py at 2x2: A worker failed."),
        (kill_the_server, 1, "redis.exceptions.ConnectionError: "),
    ],
)
def test_nothing_is_left_behind(
    tmp_path: Path,
    end: Callable[[subprocess.Popen[str], list[psutil.Process]], None],
    status: int,
    said: str,
) -> None:
    running, family = begin(tmp_path)
    end(running, family)
    _, errors = running.communicate(timeout=30)
    assert running.returncode == status
    assert said in errors
    _gone, alive = psutil.wait_procs(family, 10)
    assert not alive
    assert not list(tmp_path.iterdir())


def test_no_process_outlives_a_killed_bench(tmp_path: Path) -> None:
    running, family = begin(tmp_path)
    running.kill()
    running.communicate(timeout=10)
    _gone, alive = psutil.wait_procs(family, 10)
    assert not alive


def test_nothing_is_left_behind_of_locks_outside_the_store(
    tmp_path: Path, zookeeper: ZooKeeperServer
) -> None:
    before = zookeeper.figure("zk_znode_count")
    only = ("--only", "zookeeper,redlock,db_unique", "--base", "redlock")  # zookeeper comes first
    running, family = begin(tmp_path, *only, servers=4, ZOOKEEPER_HOSTS=zookeeper.hosts)
    until(lambda: zookeeper.figure("zk_ephemerals_count") >= 4, 30, "they stand in line")
    interrupt(running, family)
    _, errors = running.communicate(timeout=30)
    assert running.returncode == 130
    assert "left behind" not in errors
    _gone, alive = psutil.wait_procs(family, 10)
    assert not alive
    assert not list(tmp_path.iterdir())
    assert zookeeper.figure("zk_znode_count") == before
