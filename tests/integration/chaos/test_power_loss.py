"""A power cut takes from the store's log all that was never synced, also if that is everything."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from loadtest.chaos.faults import power_loss
from loadtest.chaos.process import Reaper
from loadtest.chaos.stores import StoreServer, can_know_what_is_synced, make_sync_library

pytestmark = pytest.mark.skipif(not can_know_what_is_synced(), reason="needs Linux and cc")
WRITES = 50


@pytest.fixture
def server(tmp_path: Path) -> Iterator[StoreServer]:
    reaper = Reaper(tmp_path)
    library = make_sync_library(tmp_path)
    server = StoreServer(reaper, tmp_path / "store", "safe", dict(os.environ), library)
    server.start()
    server.wait()
    yield server
    server.process.kill()
    reaper.done()


def cut_power(server: StoreServer) -> str:
    """Return what the fault says that it has done."""
    nothing: Any = SimpleNamespace(
        shop=SimpleNamespace(stores=SimpleNamespace(primary=server), revive=None),
        aim=set,
        unbooked=int,
    )
    return power_loss.store(nothing, None).detail  # type: ignore[arg-type]


def test_a_store_that_syncs_each_write_loses_nothing(server: StoreServer) -> None:
    with server.client() as client:
        for number in range(WRITES):
            client.set("n", number)
    assert cut_power(server) == "0 bytes lost"
    server.start()
    server.wait()
    with server.client() as client:
        assert client.get("n") == b"%d" % (WRITES - 1)


def test_a_store_that_never_syncs_loses_what_it_wrote(server: StoreServer) -> None:
    with server.client() as client:
        client.set("before", 1)
        client.config_set("appendfsync", "no")
        for number in range(WRITES):
            client.set("n", number)
    assert cut_power(server) != "0 bytes lost"
    server.start()
    server.wait()
    with server.client() as client:
        assert client.mget("before", "n") == [b"1", None]


def test_a_new_log_of_which_nothing_was_synced_loses_everything(server: StoreServer) -> None:
    with server.client() as client:
        client.set("n", 1)
        client.config_set("appendfsync", "no")
        client.config_set("appendonly", "no")
        client.flushall()
        client.config_set("appendonly", "yes")  # begins another file
        while client.info("persistence")["aof_rewrite_in_progress"]:
            pass
        client.set("n", 2)
    cut_power(server)
    assert server.log.stat().st_size == 0
