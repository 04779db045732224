"""A buyer's clients, as the shop's modes and recipes ask for them."""

from __future__ import annotations

from functools import cached_property

import redis
from badluck.actor.connection import RESENDS, pool

from app.store.clients.redis import SendsOnce

MASTERS = 3  # of redlock


class GateServers:
    """The same members as `Servers`.

    `resend`: send a command again when its reply is lost, as redis-py does by default.
    """

    def __init__(self, resend: bool = False) -> None:
        self.resend = resend

    @cached_property
    def store(self) -> redis.Redis:
        return self.own_store()

    def own_store(self) -> redis.Redis:
        return self._client(0)

    @cached_property
    def masters(self) -> list[redis.Redis]:
        return [self._client(number) for number in range(1, MASTERS + 1)]

    def _client(self, server: int) -> redis.Redis:
        if self.resend:
            return redis.Redis(connection_pool=pool(server, RESENDS))
        return SendsOnce(connection_pool=pool(server))
