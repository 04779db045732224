"""Locks in this process and in others, on each store and on a cluster; a server to be killed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from app.bootstrap import Services
from app.config import Settings
from app.domain import Clock
from app.locks.handle import Handle
from app.store.servers import Servers
from tests.support.forked_process import Forked
from tests.support.lock_holder import hold
from tests.support.locks import (
    KEY,
    NO_LEASE,
    HoldUp,
    Lock,
    SetClock,
    TakeAway,
    handle,
    held_up,
    pass_time,
)
from tests.support.servers import StoreServer
from tests.support.zookeeper import end_session


@pytest.fixture
def servers(services: Services) -> Servers:
    """Servers for the recipes, empty. A recipe that needs more than the store finds it here."""
    return services.servers


@pytest.fixture
def clock() -> SetClock:
    return SetClock()


@pytest.fixture
def lock(servers: Servers, clock: SetClock) -> Lock:
    """Make handles on one and the same lock."""

    def make(name: str, lease: float = 10.0, by: Clock = clock, at: Servers = servers) -> Handle:
        return handle(name, at, by, lease)

    return make


@pytest.fixture
def take_away(servers: Servers, clock: SetClock) -> TakeAway:
    """End a lock while its holder has it."""

    def lapse(lock: Handle) -> None:
        if lock.name in NO_LEASE:
            servers.store.delete(KEY)
        if lock.needs == "zookeeper":
            end_session(servers)
        # A lease in whole seconds may last two seconds longer.
        pass_time(servers, clock, lock.lease_s + 2)

    return lapse


@pytest.fixture
def hold_up() -> Iterator[HoldUp]:
    """Make servers as `held_up` does."""
    made: list[Servers] = []

    def make(settings: Settings, command: str, hand: Callable[[], object]) -> Servers:
        made.append(held_up(settings, command, hand))
        return made[-1]

    yield make
    for each in made:
        each.store.connection_pool.disconnect()


@pytest.fixture
def other(servers: Servers) -> Iterator[Callable[..., Forked]]:
    """Make holders in processes of their own, which are killed when the test has ended."""
    made: list[Forked] = []

    def make(name: str, lease: float, hang_before: str = "") -> Forked:
        made.append(Forked(hold, servers.settings, name, lease, hang_before))
        return made[-1]

    yield make
    for each in made:
        each.close()


@pytest.fixture
def at_own(own_store: StoreServer, tmp_path: Path) -> Iterator[Servers]:
    """A client with the shop's own timeouts, of a server that the test may kill or freeze."""
    servers = Servers(Settings(redis_url=own_store.url, var_dir=str(tmp_path)))
    yield servers
    servers.store.connection_pool.disconnect()
