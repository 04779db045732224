"""Recipes in a user's own code: plain clients, a prefix, a wait, a lease; `with` and `@`."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import redis
from sqlalchemy import create_engine

from app.domain import LockBusy, LockLost
from app.locks import LOCKS
from app.locks.handle import Handle
from app.store.servers import Servers
from app.store.sql.named_locks import LockRow
from tests.support.locks import KEY, NO_LEASE, Lock, SetClock, TakeAway
from tests.support.servers import StoreServer
from tests.support.zookeeper import leave

RUNS_ON = ["valkey"]
PAGE = Path("docs/locks/reuse.md")
KEEPS_NOBODY_OUT = {"watchdog_any"}  # its SETEX keeps no client out

everybody = pytest.mark.parametrize("name", LOCKS)
keeping_others_out = pytest.mark.parametrize(
    "name", [name for name in LOCKS if name not in KEEPS_NOBODY_OUT]
)


@contextmanager
def plain(servers: Servers, needs: str, folder: Path) -> Iterator[Any]:
    """A client or engine of a user who knows nothing of the shop."""
    if needs == "database":
        engine = create_engine(f"sqlite:///{folder / 'plain.db'}")
        LockRow.metadata.create_all(engine, [LockRow.metadata.tables["locks"]])
        yield engine
        engine.dispose()
    elif needs == "zookeeper":
        from kazoo.client import KazooClient

        client = KazooClient(servers.settings.zookeeper_hosts)
        client.start()
        yield client
        leave(client)
    else:
        urls = servers.settings.masters if needs == "masters" else [servers.settings.redis_url]
        clients = [redis.Redis.from_url(url) for url in urls]
        yield clients if needs == "masters" else clients[0]
        for client in clients:
            client.close()


@keeping_others_out
def test_on_a_client_as_everybody_has_it(servers: Servers, name: str, tmp_path: Path) -> None:
    recipe = LOCKS[name]
    with plain(servers, recipe.needs, tmp_path) as client:
        with recipe(client, "report") as lock:
            assert not recipe(client, "report").acquire(blocking=False)
            assert not lock.lost
        with recipe(client, "report", wait_s=5):
            pass


@keeping_others_out
def test_a_prefix_is_part_of_its_name(servers: Servers, name: str) -> None:
    recipe, client = LOCKS[name], getattr(servers, LOCKS[name].needs)
    mine = recipe(client, "{apple}:report", prefix="lock:")
    assert mine.key == "lock:{apple}:report"
    assert mine.acquire(blocking=False)
    assert recipe(client, "{apple}:report").acquire(blocking=False), "another lock"
    assert not recipe(client, "lock:{apple}:report").acquire(blocking=False), "the same"


@keeping_others_out
def test_the_handles_wait_ends_with_an_error(lock: Lock, servers: Servers, name: str) -> None:
    assert lock(name).acquire()
    recipe = LOCKS[name]
    impatient = recipe(getattr(servers, recipe.needs), KEY, wait_s=0.05)
    with pytest.raises(LockBusy, match=KEY), impatient:
        pass
    assert not impatient.acquire()
    assert not impatient.acquire(wait_s=0), "its own for this time"


@pytest.mark.parametrize("name", [name for name in LOCKS if name not in NO_LEASE])
def test_a_lease_of_its_own_for_one_acquire(lock: Lock, name: str) -> None:
    holder = lock(name, 10.0)
    assert holder.acquire(lease_s=59.5)
    assert holder.lease_s == (60 if LOCKS[name].whole_seconds else 59.5)
    assert holder.ends is None or holder.ends - holder.clock.now() > 50


@keeping_others_out
def test_as_a_decorator_each_call_is_a_section(lock: Lock, name: str) -> None:
    @lock(name)
    def section(word: str, *, again: str) -> str:
        """Join two words."""
        assert not lock(name).acquire(blocking=False), "inside"
        return word + again

    assert (section.__name__, section.__doc__) == ("section", "Join two words.")
    assert [section("a", again="b") for _ in range(2)] == ["ab", "ab"]
    assert lock(name).acquire(blocking=False)


@everybody
def test_a_call_that_lost_the_lock_says_so(lock: Lock, take_away: TakeAway, name: str) -> None:
    inside: list[Handle] = []

    def section(holder: Handle) -> None:
        take_away(holder)
        inside.append(holder)

    outer = lock(name)
    with pytest.raises(LockLost):
        outer(section)(outer)
    assert inside == [outer]


@pytest.mark.parametrize("name", ["setnx", "lease", "redlock", "db_unique"])
def test_the_pause_between_two_tries(lock: Lock, servers: Servers, name: str) -> None:
    assert lock(name).acquire()
    pauses: list[float] = []

    class Noting(SetClock):
        def sleep(self, seconds: float) -> None:
            pauses.append(seconds)
            self.ahead += seconds

    recipe = LOCKS[name]
    client = getattr(servers, recipe.needs)
    slow = recipe(client, KEY, wait_s=10, poll_s=(1.0, 2.0), clock=Noting())
    assert not slow.acquire()
    assert 5 <= len(pauses) <= 10
    assert all(1.0 <= pause <= 2.0 for pause in pauses)
    assert slow.counts.attempts == len(pauses) + 1


def test_the_page_runs(valkey: StoreServer) -> None:
    [code] = re.findall(r"^```python\n(.+?)^```", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    with redis.Redis.from_url(valkey.url) as client:
        client.flushall()
        here = code.replace("redis.Redis()", f"redis.Redis(port={valkey.port})")
        ran = subprocess.run([sys.executable, "-c", here], capture_output=True, text=True)
        assert (ran.stdout, ran.stderr) == ("inside\nwritten\n", "")
        assert client.dbsize() == 0
