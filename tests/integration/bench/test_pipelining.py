"""Commands that travel together beside those that do not: every cell is there, and was measured."""

from __future__ import annotations

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
    assert "times the commands/s" in str(cells[0])
    with valkey.client() as client:
        assert int(client.get("{pipelining}:written") or 0) > 8
