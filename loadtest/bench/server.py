"""A Valkey for one run: on a free port, in a folder of its own, gone afterwards."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import redis
from servers.valkey import Valkey

from app.store import embedded
from loadtest.bench import BenchFailed

ANSWER = 20.0  # s


class Embedded(Valkey):
    failure = BenchFailed


@contextmanager
def running(folder: Path) -> Iterator[redis.Redis]:
    """Start it, yield a client for it, stop it on leaving.

    Raises BenchFailed when it does not start, StoreAway without a server for this machine.
    """
    # No append-only file: a run would write gigabytes, and the server would stop and fork to
    # rewrite them in the middle of a cell.
    with (
        Embedded(folder, "--appendonly", "no", program=str(embedded.binary())) as server,
        redis.Redis(port=server.port, socket_timeout=ANSWER) as store,
    ):
        yield store
        # One of redlock's masters may be away while the sale continues, at another pace.
        if not server.runs():
            raise BenchFailed("An embedded Valkey ended before its time.")


def url(store: redis.Redis) -> str:
    return f"redis://127.0.0.1:{store.connection_pool.connection_kwargs['port']}/0"


def about(store: redis.Redis) -> str:
    server_info = store.info("server")
    version = server_info.get("valkey_version", server_info["redis_version"])
    return f"embedded Valkey {version} over loopback TCP, nothing written to disk (no AOF)"
