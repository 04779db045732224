"""`lastapple bench fulfil`: a short run, and one that is stopped."""

from __future__ import annotations

import json
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from loadtest.bench import BenchFailed
from loadtest.bench.fulfil import stage as stages
from loadtest.bench.fulfil.cell import SELLERS, measure
from loadtest.bench.fulfil.stage import stage
from tests.support.command_line import begin, run
from tests.support.servers import until

FULFIL = ("bench", "fulfil")


def test_a_short_run_for_programs_and_for_people() -> None:
    done = run(*FULFIL, "--sales", "5000", "--repeats", "1", "--json", "-")
    assert done.returncode == 0, done.stderr
    rows = {row["name"]: row for row in json.loads(done.stdout)["rows"]}
    assert list(rows) == ["sell", "fulfil-sqlite", "fulfil-postgresql"]
    members = {"name", "connections", "per_s", "ratio_noop", "ratio_usual", "p50_ms", "p99_ms"}
    for row in rows.values():
        assert set(row) >= members | {"min", "max", "cpu_us_per_order", "rss_mb_after"}
        assert 0 < row["min"] <= row["per_s"] <= row["max"]
    assert rows["sell"]["ratio_sell"] is None
    for name in ("fulfil-sqlite", "fulfil-postgresql"):
        assert rows[name]["ratio_sell"] > 0
    assert rows["fulfil-sqlite"]["database_cpu_us_per_order"] is None
    assert "CPU of the database, µs an order" in done.stderr


def test_without_postgresql_it_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    assert stages.databases() == ["sqlite", "postgresql"]
    monkeypatch.setattr(stages, "find_spec", lambda _: None)
    assert stages.databases() == ["sqlite"]


def test_what_was_over_before_anybody_looked_is_no_figure() -> None:
    with stage(["sqlite"]) as there, pytest.raises(BenchFailed, match="within one look"):
        measure(there, "sqlite", "sqlite-0", 1, lambda: False)


def test_what_is_not_booked_is_no_figure(monkeypatch: pytest.MonkeyPatch) -> None:
    """A fulfil that cannot start is reported with its own message, not with a figure."""
    monkeypatch.setenv("FULFIL_BATCH", "none")
    with stage(["sqlite"]) as there, pytest.raises(BenchFailed, match="FULFIL_BATCH"):
        measure(there, "sqlite", "sqlite-0", 100, lambda: False)


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder outside of pytest's: PostgreSQL may run as another user, whom pytest shuts out."""
    with tempfile.TemporaryDirectory(prefix="lastapple-") as name:
        yield Path(name)


@pytest.mark.parametrize("word", [signal.SIGINT, signal.SIGTERM])
def test_nothing_is_left_behind(folder: Path, word: int) -> None:
    running = begin(*FULFIL, "--sales", "5000000", "--repeats", "1", TMPDIR=str(folder))
    me = psutil.Process(running.pid)
    try:
        until(lambda: me.num_threads() > SELLERS, 60, "it sells")
        family = me.children(recursive=True)
        assert len(family) >= 2, "a Valkey and a PostgreSQL"
    finally:
        running.send_signal(word)
        _, errors = running.communicate(timeout=60)
    assert (running.returncode, "Stopped; nothing was written." in errors) == (130, True)
    _gone, alive = psutil.wait_procs(family, 10)
    assert not alive
    assert not list(folder.iterdir())
