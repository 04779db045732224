"""Our own recipes as rows: a new handle for each critical section, as mode `lock` does."""

from __future__ import annotations

from typing import Any

from app.bench.contender import WAIT_S, Contender, Guarded, Names
from app.domain import Clock
from app.locks.handle import Handle
from app.store.servers import Servers


class Recipe:
    """One of our recipes as a lock that is used again and again."""

    def __init__(self, recipe: type[Handle], client: Any, name: str, lease_s: float) -> None:
        self.recipe = recipe
        self.client = client
        self.clock = Clock()
        self.name = name
        self.lease_s = lease_s

    def acquire(self) -> bool:
        self.handle = self.recipe(self.client, self.name, self.lease_s, clock=self.clock)
        return self.handle.acquire(wait_s=WAIT_S)

    def release(self) -> bool:
        return self.handle.release()


def contender(recipe: type[Handle], servers: Servers, names: Names, lease: float) -> Contender:
    lock = Recipe(recipe, getattr(servers, recipe.needs), names.lock, lease)
    return Guarded(lock, servers.store, names)
