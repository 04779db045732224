"""Files of `up` and its servers are private: no other user can read or ask them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
import redis
import requests

from tests.support.command_line import run
from tests.support.servers import until
from tests.support.shop import NewShop, Shop

ADDRESSES = ["store.sock", "replica.sock", "redlock-1.sock", "redlock-2.sock", "redlock-3.sock", ""]


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    """A shop with every embedded server, in a folder that others may read."""
    made = Shop(tmp_path_factory.mktemp("private"), DURABILITY="replicated", SECRET_KEY="")
    made.start()
    made.stop()
    made.environ["SECRET_KEY"] = "changed"  # its store is its own: no other host has to agree
    for path in [var(made), *var(made).rglob("*")]:
        path.chmod(0o755 if path.is_dir() else 0o644)
    made.start()
    made.round("atomic", 5)
    assert made.buy(requests.Session()).status_code == 201
    yield made
    made.close()


def var(shop: Shop) -> Path:
    return Path(shop.environ["VAR_DIR"])


def password(shop: Shop) -> str:
    return (var(shop) / "store-password").read_text()


def client(shop: Shop, address: str, password: str | None = None) -> redis.Redis:
    """Return a client of the server with this socket; "": of the store's port."""
    if address:
        socket = str(var(shop) / "store" / address)
        return redis.Redis(unix_socket_path=socket, password=password, socket_timeout=10)
    port = int(shop.environ["STORE_PORT"])
    return redis.Redis(port=port, password=password, socket_timeout=10)


def open_to_others(folder: Path) -> list[str]:
    return [
        f"{path} {path.stat().st_mode:o}"
        for path in [folder, *folder.rglob("*")]
        if path.stat().st_mode & 0o077
    ]


def test_an_existing_folder_is_made_private(shop: Shop) -> None:
    names = {path.name for path in var(shop).rglob("*")}
    assert {"orders.db", "orders.db-wal", "secret", "store-password", "shop.log"} <= names
    assert open_to_others(var(shop)) == []


def test_a_new_folder_is_private(new_shop: NewShop, tmp_path: Path) -> None:
    fresh = new_shop(tmp_path)
    assert open_to_others(var(fresh)) == []


@pytest.mark.parametrize("address", ADDRESSES)
def test_each_server_asks_for_the_password(shop: Shop, address: str) -> None:
    with client(shop, address) as stranger, pytest.raises(redis.AuthenticationError):
        stranger.get("{apple}:round")
    with client(shop, address, password(shop)) as own:
        assert own.ping()


def test_the_password_is_in_no_command_no_environment_and_no_log(shop: Shop) -> None:
    secret = password(shop)
    assert len(secret) >= 32
    family = psutil.Process(shop.process.pid)
    for process in [family, *family.children(recursive=True)]:
        assert secret not in " ".join(process.cmdline())
        assert secret not in str(process.environ())
    holders = {
        str(path.relative_to(var(shop)))
        for path in var(shop).rglob("*")
        if path.is_file() and secret.encode() in path.read_bytes()
    }
    assert holders == {"store-password", "store/password.conf"}
    assert secret not in shop.said()


@pytest.mark.parametrize("command", ["settings", "settings --json", "check", "round show apple"])
def test_the_password_is_shown_by_no_command(shop: Shop, command: str) -> None:
    shown = run(*command.split(), **shop.environ)
    assert shown.stdout
    assert password(shop) not in shown.stdout + shown.stderr


def test_a_folder_from_before_there_was_a_password_is_opened(
    new_shop: NewShop, tmp_path: Path
) -> None:
    """Its store's log has the sales, and no password; only then is one made."""
    old = new_shop(tmp_path)
    number = old.round("atomic", 7)["round"]
    assert old.buy(requests.Session()).status_code == 201
    old.stop()
    (var(old) / "store-password").unlink()
    (var(old) / "store" / "password.conf").unlink()
    old.start()
    assert old.audit(number)["left"] == 6
    assert old.buy(requests.Session()).status_code == 201
    with client(old, "") as stranger, pytest.raises(redis.AuthenticationError):
        stranger.ping()


def test_a_store_that_dies_asks_for_the_same_password(shop: Shop) -> None:
    os.kill(shop.child("store").pid, 9)
    with client(shop, "", password(shop)) as own:

        def answers() -> bool:
            try:
                return bool(own.ping())
            except redis.ConnectionError:
                return False

        until(answers, 30)
