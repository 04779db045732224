"""Helpers for tests of locks: hooks in the gaps, and clocks that can be set."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from sqlalchemy import update

from app.config import Settings
from app.domain import Clock
from app.locks import LOCKS
from app.locks.handle import Handle
from app.store.clients.redis import Metered, SendsOnce
from app.store.servers import Servers
from app.store.sql.named_locks import LockRow
from tests.support.cluster import all_keys
from tests.support.purchases import Once

KEY = "{apple}:1:lock"
Lock = Callable[..., Handle]  # the fixture `lock`
TakeAway = Callable[[Handle], None]  # the fixture `take_away`
HoldUp = Callable[[Settings, str, Callable[[], object]], Servers]  # the fixture `hold_up`

NO_LEASE = {"setnx"}  # such a lock ends when it is deleted, not with time


def handle(
    name: str, at: Servers, by: Clock | None = None, lease_s: float = 10.0, key: str = KEY
) -> Handle:
    """Return a handle of a recipe, on the client in which it lives."""
    recipe = LOCKS[name]
    return recipe(getattr(at, recipe.needs), key, lease_s, clock=by or Clock())


class SetClock(Clock):
    """A clock to be set: `ahead` s of the true time, or standing at `wall_at` s since 1970."""

    def __init__(self, wall_at: float | None = None) -> None:
        self.ahead = 0.0
        self.wall_at = wall_at

    def now(self) -> float:
        return super().now() + self.ahead

    def wall(self) -> float:
        return (super().wall() if self.wall_at is None else self.wall_at) + self.ahead


class _Gap(Metered):
    """Calls its `hand` before it sends a command named `before`, alone or in a MULTI."""

    before: str
    hand: Once

    def send_command(self, *args: Any, **kwargs: Any) -> None:
        if args[0] == self.before:
            self.hand()
        super().send_command(*args, **kwargs)

    def pack_commands(self, commands: Any) -> Any:
        commands = list(commands)
        if any(command[0] == self.before for command in commands):
            self.hand()
        return super().pack_commands(commands)


def held_up(settings: Settings, command: str, hand: Callable[[], object]) -> Servers:
    """Return servers for a client that calls `hand` before its first `command`."""
    servers = Servers(settings)
    pool = servers.store.connection_pool
    members = {"before": command, "hand": staticmethod(Once(hand))}
    pool.connection_class = type("Gap", (_Gap, pool.connection_class), members)
    servers.store = SendsOnce(connection_pool=pool)  # each command of a connection can be delayed
    return servers


def pass_time(servers: Servers, clock: SetClock, seconds: float) -> None:
    """Let `seconds` pass at once: for `clock`, keys with a lifetime and leases in the database."""
    clock.ahead += seconds
    masters = servers.masters if servers.settings.redlock_urls else []
    for store in (servers.store, *masters):
        for key in all_keys(store):
            if (left := store.pttl(key)) >= 0:
                store.pexpire(key, max(0, round(left - seconds * 1000)))
    with servers.engine.begin() as connection:
        connection.execute(update(LockRow).values(until=LockRow.until - seconds))


def renewing() -> int:
    """Return how many threads of Clock.every are alive."""
    return sum(thread.name == "every" for thread in threading.enumerate())
