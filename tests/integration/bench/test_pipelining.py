"""Commands that travel together beside those that do not: every cell is there, and was measured."""

from __future__ import annotations

import json
import subprocess
import sys

from app.bench.pipelining import measure
from tests.servers import StoreServer


def test_each_command_by_each_crowd(valkey: StoreServer) -> None:
    cells = list(measure(valkey.url, seconds=0.05, rounds=2, threads=(1, 3)))
    assert [(cell.command, cell.threads) for cell in cells] == [
        ("GET", 1),
        ("GET", 3),
        ("EVALSHA", 1),
        ("EVALSHA", 3),
    ]
    assert all(len(cell.ratios()) == 2 for cell in cells)
    with valkey.client() as client:
        assert int(client.get("{pipelining}:written") or 0) > 8


def test_the_command() -> None:
    command = [sys.executable, "-m", "app.cli", "bench", "pipelining", "--seconds", "0.1"]
    done = subprocess.run(
        [*command, "--repeats", "1", "--json", "-"], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    rows = json.loads(done.stdout)["rows"]
    assert [(row["name"], row["threads"]) for row in rows[:4]] == [
        *(("GET", 1), ("GET", 2), ("GET", 8), ("GET", 32)),
    ]
    assert all(row["ratio_pool"] > 0 for row in rows)
