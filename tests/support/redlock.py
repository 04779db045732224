"""Helpers for tests of redlock, which control its masters."""

from __future__ import annotations

from collections.abc import Callable

import redis

from app.domain import Clock
from app.locks.redlock import Redlock
from app.store.servers import Servers
from tests.support.servers import StoreServer

KEY = "{apple}:1:lock"
TIMEOUT = 0.2  # s that each master has to answer
PLENTY = 30.0  # s, a lease longer than any test

Reach = Callable[[list[StoreServer]], Servers]


def lock(at: Servers, clock: Clock | None = None, lease: float = PLENTY) -> Redlock:
    return Redlock(at.masters, KEY, lease, clock=clock or Clock())


def holds(master: StoreServer) -> bool:
    with redis.Redis.from_url(master.url) as client:
        return bool(client.exists(KEY))
