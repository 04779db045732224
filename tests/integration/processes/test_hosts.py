"""A second host of a store whose settings differ from the first host's does not start."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from app.config import Settings
from app.ops import shared_settings
from tests.support.command_line import run
from tests.support.servers import StoreServer
from tests.support.shop import Shop


@pytest.fixture
def decided(valkey: StoreServer) -> Iterator[StoreServer]:
    """A store whose first host has another secret than those of the tests."""
    with valkey.client() as client:
        client.flushall()
        first = Settings.read({"SECRET_KEY": "the first host's"})
        shared_settings.require_same(client, first)
        yield valkey
        client.flushall()


def test_up_is_refused_before_it_prepares(decided: StoreServer, tmp_path: Path) -> None:
    second = Shop(tmp_path, REDIS_URL=decided.url)
    second.launch()
    assert second.process.wait(60) == 1
    assert "SECRET_KEY differs" in second.said()
    assert "stocked" not in second.said()


def test_run_shop_is_refused(decided: StoreServer, tmp_path: Path) -> None:
    second = run("run", "shop", REDIS_URL=decided.url, VAR_DIR=str(tmp_path))
    assert second.returncode == 1
    assert "SECRET_KEY differs" in second.stderr
