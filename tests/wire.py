"""A hand on the wire, for the gaps in which a mode has no sleep to lay a hand on."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cached_property
from typing import Any, ClassVar

import redis

from app.config import Settings
from app.store.redis import Metered
from app.store.servers import Servers

Hands = dict[str, Callable[[], object]]


class Handed(Metered):
    """A real connection that calls a hand before it sends a command with a certain word."""

    hands: ClassVar[Hands]

    def send_command(self, *args: Any, **kwargs: Any) -> None:
        self._before([args])
        super().send_command(*args, **kwargs)

    def pack_commands(self, commands: Any) -> Any:
        self._before(commands)
        return super().pack_commands(commands)

    def _before(self, commands: Iterable[tuple[Any, ...]]) -> None:
        for command in commands:
            for word, hand in self.hands.items():
                if word in command:
                    hand()


class HandServers(Servers):
    """The same servers over a wire with hands on it: `hands` maps a command or a key to a deed."""

    def __init__(self, settings: Settings, hands: Hands) -> None:
        super().__init__(settings)
        self.hands = hands

    @cached_property
    def store(self) -> redis.Redis:
        store = super().store
        pool = store.connection_pool
        pool.connection_class = type(
            "Handed", (Handed, pool.connection_class), {"hands": self.hands}
        )
        return store
