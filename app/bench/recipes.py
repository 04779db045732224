"""Our own recipes as rows: a new handle for each critical section, as mode `lock` does."""

from __future__ import annotations

from app.bench.contender import PATIENCE, Contender, Guarded, Names
from app.domain import Clock
from app.locks.handle import Handle
from app.store.servers import Servers


class Recipe:
    """One of our recipes as a lock that is used again and again."""

    def __init__(self, recipe: type[Handle], servers: Servers, name: str, lease: float) -> None:
        self.recipe = recipe
        self.servers = servers
        self.clock = Clock()
        self.name = name
        self.lease = lease

    def acquire(self) -> bool:
        self.handle = self.recipe(self.servers, self.clock, self.name, self.lease)
        return self.handle.acquire(timeout=PATIENCE)

    def release(self) -> bool:
        return self.handle.release()


def contender(recipe: type[Handle], servers: Servers, names: Names, lease: float) -> Contender:
    return Guarded(Recipe(recipe, servers, names.lock, lease), servers.store, names)
