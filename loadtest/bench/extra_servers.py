"""Servers that some rows need next to the bench's Valkey; they end with the run."""

from __future__ import annotations

import logging
import time
import uuid
from collections.abc import Collection, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from app.config import Settings
from app.store.sql import db
from loadtest.bench import BenchFailed, server
from loadtest.bench.contender import ANSWER

MASTERS = 3  # for redlock: the smallest number of which one may die
CONNECT = 10.0  # s that ZooKeeper may take to accept the session
REMOVE = 30.0  # s in which thousands of its nodes can be removed

log = logging.getLogger(__name__)


@contextmanager
def extra_servers(
    needs: Collection[str], folder: Path, url: str, zookeeper_hosts: str
) -> Iterator[Settings]:
    """Yield settings with all servers that rows with these `needs` use; the store is at `url`."""
    # A slow answer is a measurement here, no reason to give up.
    settings = Settings(redis_url=url, var_dir=str(folder), store_timeout=ANSWER * 1000)
    with ExitStack() as stack:
        if "masters" in needs:
            urls = [stack.enter_context(_master(folder, number)) for number in range(MASTERS)]
            settings = replace(settings, redlock_urls=",".join(urls))
        if "database" in needs:
            _make_tables(settings)
        if "zookeeper" in needs:
            hosts = stack.enter_context(_tree(zookeeper_hosts))
            settings = replace(settings, zookeeper_hosts=hosts)
        yield settings


@contextmanager
def _master(folder: Path, number: int) -> Iterator[str]:
    own = folder / f"master-{number}"
    own.mkdir()
    with server.running(own) as master:
        yield server.url(master)


def _make_tables(settings: Settings) -> None:
    engine = db.engine(settings.database, settings.database_timeout)
    try:
        db.migrate(engine)
    finally:
        engine.dispose()


@contextmanager
def _tree(hosts: str) -> Iterator[str]:
    """Yield hosts with a node of the run's own in the user's ZooKeeper, below which clients work.

    Each lock leaves an empty node behind; the common parent lets us find them.
    """
    from kazoo.client import KazooClient  # an extra: it may not be installed
    from kazoo.exceptions import KazooException
    from kazoo.handlers.threading import KazooTimeoutError

    client = KazooClient(hosts)
    node = f"/lastapple-bench-{uuid.uuid4().hex}"
    try:
        if not client.start_async().wait(CONNECT):
            raise BenchFailed(f"ZooKeeper ({hosts}) does not answer.")
        try:
            client.ensure_path_async(node).get(timeout=CONNECT)
            yield hosts.rstrip("/") + node
        finally:
            # An error here must not hide the error that ended the run.
            try:
                _remove(client, node, time.monotonic() + REMOVE)
            except (KazooException, KazooTimeoutError) as error:
                log.warning("%s is left behind in ZooKeeper (%s): %r", node, hosts, error)
    except (KazooException, KazooTimeoutError) as error:
        raise BenchFailed(f"ZooKeeper ({hosts}) failed: {error!r}") from error
    finally:
        with suppress(KazooException):
            client.stop()
        client.close()


def _remove(client: Any, node: str, by: float) -> None:
    """Delete a node and all below it, including those that dead workers' sessions still have."""
    from kazoo.exceptions import NoNodeError

    with suppress(NoNodeError):  # such a session has just ended
        children = client.get_children_async(node).get(timeout=max(0.0, by - time.monotonic()))
        for child in children:
            _remove(client, f"{node}/{child}", by)
        client.delete_async(node).get(timeout=max(0.0, by - time.monotonic()))
