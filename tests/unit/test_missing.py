"""A missing server is reported before any unit is sold with it."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from pathlib import Path

import pytest

from app.config import Settings
from app.domain import StoreAway
from app.locks import LOCKS
from app.store.servers import Servers


def servers(folder: Path, **environ: str) -> Servers:
    return Servers(Settings.read({"VAR_DIR": str(folder), **environ}))


def test_nothing_is_missing_where_it_is_named(tmp_path: Path) -> None:
    named = servers(
        tmp_path, ZOOKEEPER_HOSTS="a:2181", REDLOCK_URLS="redis://a,redis://b,redis://c"
    )
    assert {named.missing(recipe.needs) for recipe in LOCKS.values()} == {""}


def test_masters_that_nobody_started(tmp_path: Path) -> None:
    here = servers(tmp_path)
    assert "REDLOCK_URLS is not set. `lastapple up` starts three" in here.missing("masters")
    with pytest.raises(StoreAway, match="REDLOCK_URLS"):
        _ = here.masters
    (tmp_path / "store").mkdir()
    (tmp_path / "store" / "redlock-2.sock").touch()
    assert here.missing("masters") == "", "a minority may be away for a moment"


def test_masters_whose_sockets_have_too_long_a_path(tmp_path: Path) -> None:
    deep = servers(tmp_path / ("deep/" * 20)).missing("masters")
    assert "too long" in deep
    assert "set REDLOCK_URLS" in deep


def test_no_zookeeper(tmp_path: Path) -> None:
    here = servers(tmp_path)
    assert "ZOOKEEPER_HOSTS is not set" in here.missing("zookeeper")
    with pytest.raises(StoreAway, match="ZOOKEEPER_HOSTS"):
        _ = here.zookeeper


def test_no_kazoo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found: Callable[[str], object] = importlib.util.find_spec
    monkeypatch.setattr(
        "app.store.servers.find_spec", lambda name: None if name == "kazoo" else found(name)
    )
    here = servers(tmp_path, ZOOKEEPER_HOSTS="a:2181")
    assert "`make install` brings it" in here.missing("zookeeper")
