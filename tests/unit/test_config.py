"""The table of settings: read once, complete, and strict about its values."""

from __future__ import annotations

import re
from dataclasses import Field
from pathlib import Path
from typing import Any

import pytest

from app.checks import BadSetting
from app.config import SETTINGS, Settings

TOP = Path(__file__).parents[2]


def test_the_defaults_are_loopback_and_embedded() -> None:
    settings = Settings.read({})
    assert settings == Settings()
    assert settings.store.startswith(f"unix://{Path('var').resolve()}/store/store.sock?db=0")
    assert settings.database == f"sqlite:///{Path('var').resolve()}/orders.db"
    assert settings.shop_address == "http://127.0.0.1:8000"


def test_the_embedded_servers_have_the_password_that_was_made(tmp_path: Path) -> None:
    settings = Settings.read({"VAR_DIR": str(tmp_path)})
    urls = [settings.store, *settings.masters]
    assert [url.rpartition("?")[2] for url in urls] == ["db=0"] * 4
    (tmp_path / "store-password").write_text("abc")
    urls = [settings.store, *settings.masters]
    assert [url.rpartition("?")[2] for url in urls] == ["db=0&password=abc"] * 4


def test_a_folder_too_deep_for_a_socket_uses_the_port() -> None:
    settings = Settings.read({"VAR_DIR": "deep/" * 20})
    assert settings.store_socket is None
    assert settings.store == "redis://127.0.0.1:8002?db=0"


def test_what_is_set_counts_and_what_is_empty_does_not() -> None:
    settings = Settings.read({"SHOP_PORT": "9000", "LAB_PORT": "", "REDIS_URL": "redis://x/1"})
    assert (settings.shop_port, settings.lab_port, settings.store) == (9000, 8001, "redis://x/1")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("SHOP_PORT", "0"),
        ("SHOP_PORT", "65536"),
        ("SHOP_PORT", "8000.0"),
        ("SHOP_PORT", "-1"),
        ("SHOP_PORT", "٨"),
        ("SHOP_WORKERS", "many"),
        ("DURABILITY", "always"),
        ("REDLOCK_URLS", "redis://a,redis://b"),
        ("REDLOCK_URLS", "redis://a,redis://b,redis://b/1"),
        ("REDLOCK_URLS", "redis://a,redis://b,c:6379"),
        ("ZOOKEEPER_HOSTS", "a:2181,b:port"),
        ("ZOOKEEPER_HOSTS", "zookeeper://a"),
        ("ZOOKEEPER_HOSTS", "a,,b"),
        ("ZOOKEEPER_HOSTS", "a:65536"),
        ("ALLOWED_HOSTS", "shop:8000"),
        ("ALLOWED_HOSTS", "http://shop"),
        ("ALLOWED_HOSTS", "*.example.com"),
        ("TRUSTED_PROXIES", "127.0.0.1"),
        *(("SHOP_RATE", rate) for rate in ("30", "30/minutes", "0/minute", "30 per minute", "/")),
    ],
)
def test_what_cannot_be_used_is_named(name: str, value: str) -> None:
    with pytest.raises(BadSetting, match=name):
        Settings.read({name: value})


def test_the_masters_are_the_embedded_ones_or_those_that_are_named() -> None:
    ours = Settings.read({"VAR_DIR": "/v"})
    assert ours.masters == [f"unix:///v/store/redlock-{number}.sock?db=0" for number in (1, 2, 3)]
    theirs = Settings.read({"REDLOCK_URLS": "redis://a, redis://b/1,unix:///c"})
    assert theirs.masters == ["redis://a", "redis://b/1", "unix:///c"]
    assert theirs.master_sockets == []
    assert Settings.read({"VAR_DIR": "deep/" * 20}).masters == []


def test_zookeepers_may_be_several_and_below_a_node() -> None:
    several = Settings.read({"ZOOKEEPER_HOSTS": "a:2181,b,[::1]:2182/shop"})
    assert several.zookeeper_hosts == "a:2181,b,[::1]:2182/shop"


@pytest.mark.parametrize("row", SETTINGS, ids=lambda row: str(row.name))
def test_every_setting_is_explained_and_documented(row: Field[Any]) -> None:
    name = row.name.upper()
    assert len(row.metadata["help"]) > 15
    documented = (TOP / "docs" / "settings.md").read_text()
    documented_row = re.search(rf"^\| `{name}` \|.*", documented, re.MULTILINE)
    assert documented_row
    assert ("**same on all hosts**" in documented_row[0]) == row.metadata["same"]


@pytest.mark.parametrize(
    "url", ["redis+cluster://a:1", "rediss+cluster://u:p@a:1,b,[::1]:3/0?x=1", "redis+cluster://a/"]
)
def test_a_cluster_is_named_by_some_of_its_nodes(url: str) -> None:
    assert Settings.read({"REDIS_URL": url}).store == url


@pytest.mark.parametrize(
    "url",
    [
        "redis+cluster://",
        "redis+cluster://a:1,",
        "redis+cluster://a:x",
        "redis+cluster://a:1:2",
        "redis+cluster://a:65536",
        "redis+cluster://a:1/1",
        "unix+cluster:///s",
        "http://a:1",
    ],
)
def test_a_store_that_cannot_be_meant_is_refused(url: str) -> None:
    with pytest.raises(BadSetting, match="REDIS_URL"):
        Settings.read({"REDIS_URL": url})


def test_what_may_hold_a_password_is_never_shown() -> None:
    telling = ("_url", "_urls", "_key", "_key_old", "_token")
    for row in SETTINGS:
        if row.name.endswith(telling) and row.name != "shop_url":
            assert row.metadata["secret"], row.name
