"""The client that every row gets: redis-py's own, with connections that count."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import redis

from app.bench.contender import ANSWER
from app.config import Settings
from app.store.redis import NEVER_RESEND, Metered, Wire, metered
from app.store.servers import Servers


def connect(url: str) -> tuple[Servers, Callable[[], Wire]]:
    """Servers whose store is a plain client, and what says what it has sent so far.

    Plain (redis-py's pool, shared by all threads), because that is what the other libraries'
    users have. Only resending is off: it would sell a unit twice and nobody would know.
    """
    wires: list[Wire] = []

    class Counted(Metered, redis.Connection):
        """Counts for itself: pottery sends from threads of its own, unseen by its caller's."""

        def __init__(self, **kwargs: Any) -> None:
            super().__init__(**kwargs)
            self.wire = Wire()
            wires.append(self.wire)

        def send_command(self, *args: Any, **kwargs: Any) -> None:
            with metered(self.wire):
                super().send_command(*args, **kwargs)

        def pack_commands(self, commands: Any) -> Any:
            with metered(self.wire):
                return super().pack_commands(commands)

    def sent() -> Wire:
        return Wire(sum(wire.round_trips for wire in wires), sum(wire.commands for wire in wires))

    pool = redis.ConnectionPool.from_url(
        url, socket_timeout=ANSWER, socket_connect_timeout=ANSWER, retry=NEVER_RESEND
    )
    pool.connection_class = Counted
    servers = Servers(Settings(redis_url=url))
    servers.store = redis.Redis(connection_pool=pool)
    return servers, sent
