"""A store that has lost something: the end of its log, or everything."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path

from app.store.clients.redis import IDLE
from tests.support.servers import StoreServer


def log_of(store: Path) -> Path:
    """Return the file to which a server with its data in `store` appends."""
    (log,) = (store / "appendonlydir").glob("*.incr.aof")
    return log


def length(store: Path) -> int:
    """Return its length in bytes. A cut there is safe only if the server was idle."""
    return log_of(store).stat().st_size


def cut(store: Path, to: int) -> None:
    """Cut the log, as a disk that lied about a sync does. Its server must not run."""
    assert length(store) > to
    os.truncate(log_of(store), to)


def restarted(server: StoreServer, meanwhile: Callable[[], object]) -> None:
    """Restart it, and wait until no client trusts a connection from before."""
    server.kill()
    meanwhile()
    server.start()
    time.sleep(IDLE + 0.1)


def removed(store: Path) -> None:
    """Remove the data as `rm -rf var/store` does, except the server's own folder."""
    shutil.rmtree(store / "appendonlydir")
    for dump in store.glob("*.rdb"):
        dump.unlink()
