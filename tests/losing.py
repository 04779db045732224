"""How a lock ends under its holder's hands, recipe by recipe."""

from __future__ import annotations

from collections.abc import Callable

from app.locks.handle import Handle
from app.store.servers import Servers
from tests.servers import until
from tests.zookeeper import end_session


def lapse(servers: Servers, lock: Handle) -> None:
    """Its lease runs out (make it a short one)."""
    until(lambda: not servers.store.exists(lock.key))


def lapse_everywhere(servers: Servers, lock: Handle) -> None:
    until(lambda: not any(master.exists(lock.key) for master in servers.masters))


def lose_session(servers: Servers, _lock: Handle) -> None:
    end_session(servers)


# By recipe; every other one's is `lapse`.
LOSING: dict[str, Callable[[Servers, Handle], None]] = {
    "redlock": lapse_everywhere,
    "zookeeper": lose_session,
}


def take_away(servers: Servers, lock: Handle) -> None:
    LOSING.get(lock.name, lapse)(servers, lock)
