"""What can be explored: a mode with its recipe, set up as the shop would."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import redis
from redis.backoff import NoBackoff
from redis.connection import ConnectionPool
from redis.retry import Retry

from app.domain import Invalid, Order, Round
from app.explorer import surroundings, words
from app.explorer.buyer import Buyer
from app.explorer.gate import GateConnection
from app.explorer.model.server import Server
from app.explorer.model.values import Command, Entry, Stream
from app.locks import LOCKS
from app.modes import MODES
from app.store.keys import Keys
from app.store.redis import NEVER_RESEND, SendsOnce
from app.text import Text

EPOCH = 1_900_000_000_000  # ms since 1970: when every schedule begins
MASTERS = 3  # of redlock
# ms. A buyer waits for as long as it takes, unless the target says otherwise: so that who waits for
# ever can be seen to.
PATIENCE = 10**15


class Sold(NamedTuple):
    """One sale that the store knows of."""

    id: str
    quantity: int


class Book(NamedTuple):
    """What the store says."""

    left: int  # units
    sales: tuple[Sold, ...]
    lock: bytes | None
    lock_ends: bool  # by itself
    lock_until: int | None = None  # ms since 1970, where the store says so


def check(name: str) -> None:
    """Raises Invalid when that mode or mode:recipe is none, or cannot be explored."""
    mode, _, recipe = name.partition(":")
    for known in (MODES.get(mode), LOCKS.get(recipe)):
        if known and known.needs in WHERE:
            where = WHERE[known.needs]
            raise Invalid(
                {
                    "target": Text(
                        "%(name)s keeps its state in %(where)s: see --help.", name=name, where=where
                    )
                }
            )
    if name not in explorable():
        raise Invalid(
            {"target": Text("There is no %(name)s to be explored.", name=f"{name!r:.60}")}
        )


def explorable() -> list[str]:
    """All that can be, in teaching order; `lock` with each of its recipes."""
    names = []
    for mode in MODES.values():
        if mode.needs not in WHERE:
            recipes = [recipe for recipe in LOCKS.values() if recipe.needs not in WHERE]
            locked = [f"{mode.name}:{recipe.name}" for recipe in recipes]
            names += locked if mode.name == "lock" else [mode.name]
    return names


WHERE = {"database": Text("an SQL database"), "zookeeper": "ZooKeeper"}


@dataclass(frozen=True)
class Target:
    """A way of selling, `mode` or `mode:recipe`, and the round in which it is to sell."""

    name: str
    stock: int = 1
    quantity: int = 1
    think: int = 0
    resend: bool = False  # as redis-py does by default
    wait: int = PATIENCE  # ms for which a buyer waits for a lock

    @cached_property
    def round(self) -> Round:
        return Round(
            "apple", 1, self.stock, self.name, think=self.think, wait=self.wait, attempts=2
        )

    @cached_property
    def keys(self) -> Keys:
        return Keys(self.round.item, self.round.number)

    @property
    def pause(self) -> int:
        """ms that are longer than a lease, also one that is counted in whole seconds."""
        return self.round.lease + 2_000

    @property
    def locks(self) -> bool:
        """Does a recipe alone keep the others out?"""
        return bool(self.round.recipe)

    @property
    def lock_key(self) -> bytes | None:
        return self.keys.lock.encode()

    @property
    def alike(self) -> bool:
        """The project's modes ask nothing of a buyer's name but whether two are the same."""
        return True

    @property
    def frugal(self) -> bool:
        """Draws a token for each try, keeps but the last, and shows them to nobody but servers."""
        return self.round.recipe == "redlock"

    def identity(self) -> dict[str, Any]:
        """What a file of schedules says of it."""
        return {"target": self.name}

    def surroundings(self) -> AbstractContextManager[None]:
        return surroundings.of_their_own()

    def setup(self) -> list[list[Command]]:
        """What each server is told first: the store, and redlock's masters."""
        load: list[Command] = [
            (b"SCRIPT", b"LOAD", text.encode()) for text in words.scripts().values()
        ]
        shelve: Command = (b"SET", self.keys.stock.encode(), b"%d" % self.stock)
        masters = MASTERS if self.round.recipe == "redlock" else 0
        return [[*load, shelve], *([load] * masters)]

    def servers(self) -> list[Server]:
        """The model's, at the beginning."""
        return told(self.setup())

    def order(self, buyer: str) -> Order:
        id = f"order-{buyer}"
        return Order(id, "apple", 1, self.quantity, 60, buyer, f"key-{buyer}", EPOCH)

    def work(self, buyer: Buyer) -> str:
        """One purchase, as the shop makes it. Answers the outcome."""
        mode = MODES[self.round.mode.partition(":")[0]]
        servers: Any = GateServers(Retry(NoBackoff(), 10) if self.resend else NEVER_RESEND)
        return mode(servers, buyer.clock, self.round).sell(self.order(buyer.name)).outcome

    def filled_up(self, entries: dict[bytes, Entry]) -> dict[bytes, Entry]:
        """The shelf as at the beginning, and no trace of a sale; a lock stays as it is.

        But for its fencing numbers: they would make every time a new one, and are not what decides
        whose turn it is.
        """
        lock = self.keys.lock.encode()
        kept = {
            key: entry
            for key, entry in entries.items()
            if key.startswith(lock) and not key.endswith(b":fence")
        }
        return kept | {self.keys.stock.encode(): Entry(b"%d" % self.stock, None)}

    def book(self, entries: dict[bytes, Entry]) -> Book:
        stock = entries.get(self.keys.stock.encode())
        stream = entries.get(self.keys.sales.encode())
        lock = entries.get(self.keys.lock.encode())
        sales = []
        if stream and isinstance(stream.value, Stream):
            for entry in stream.value.entries:
                order = Order.decode(entry.fields[1])
                sales.append(Sold(order.id, order.quantity))
        return Book(
            int(stock.value) if stock and isinstance(stock.value, bytes) else 0,
            tuple(sales),
            lock.value if lock and isinstance(lock.value, bytes) else None,
            # A value that is a time is when it ends, to those who ask.
            lock is not None and (lock.expires is not None or _is_a_time(lock.value)),
            lock.expires if lock else None,
        )


def _is_a_time(value: object) -> bool:
    return isinstance(value, bytes) and value.isdigit()


def told(setup: list[list[Command]]) -> list[Server]:
    """The model's servers, after their first commands."""
    found = []
    for commands in setup:
        found.append(Server(EPOCH))
        for command in commands:
            found[-1].execute("", command)
    return found


class GateServers:
    """A buyer's clients, as `Servers` has them."""

    def __init__(self, retry: Retry) -> None:
        self.retry = retry

    @cached_property
    def store(self) -> redis.Redis:
        return self.own_store()

    def own_store(self) -> redis.Redis:
        return self._client(0)

    @cached_property
    def masters(self) -> list[redis.Redis]:
        return [self._client(number) for number in range(1, MASTERS + 1)]

    def _client(self, server: int) -> redis.Redis:
        options: dict[str, Any] = {"server": server, "protocol": 2, "driver_info": None}
        options["socket_read_size"] = 1  # it reads no socket, and there are thousands of them
        pool = ConnectionPool(connection_class=GateConnection, retry=self.retry, **options)
        if self.retry is NEVER_RESEND:
            return SendsOnce(connection_pool=pool)
        return redis.Redis(connection_pool=pool)
