"""The client of every row: redis-py's own, with connections that count."""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import cached_property
from typing import Any

import redis

from app.config import Settings
from app.store.clients.redis import NEVER_RESEND, Metered, Wire, metered
from app.store.servers import Servers
from loadtest.bench.contender import ANSWER


class CountedServers(Servers):
    """Servers whose store and masters are plain clients that count what they send.

    They are plain (redis-py's pool, shared by all threads), because users of the other libraries
    have that. Only resending is off: it would sell a unit twice, and unnoticed.
    """

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        self._wires: list[Wire] = []

    @cached_property
    def store(self) -> redis.Redis:
        return self.own_store()

    def own_store(self) -> redis.Redis:
        """Return a second client, counted with the first."""
        return self._client(self.settings.store)

    @cached_property
    def masters(self) -> list[redis.Redis]:
        return [self._client(url) for url in self.settings.masters]

    def _client(self, url: str) -> redis.Redis:
        wires = self._wires

        class Counted(Metered, redis.Connection):
            """A connection that counts for itself: pottery sends from threads of its own."""

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

        pool = redis.ConnectionPool.from_url(
            url, socket_timeout=ANSWER, socket_connect_timeout=ANSWER, retry=NEVER_RESEND
        )
        pool.connection_class = Counted
        return redis.Redis(connection_pool=pool)

    def metered(self) -> AbstractContextManager[None]:
        """Count this thread's requests to ZooKeeper; a store's connections count by themselves."""
        wire = Wire()
        self._wires.append(wire)
        return metered(wire)

    def sent(self) -> Wire:
        """Return all counts so far, of all threads."""
        return Wire(
            sum(wire.round_trips for wire in self._wires),
            sum(wire.commands for wire in self._wires),
        )

    def close(self) -> None:
        self.store.close()
        if "engine" in self.__dict__:
            self.engine.dispose()
        if self._zookeeper:
            self._zookeeper.stop()
            self._zookeeper.close()
