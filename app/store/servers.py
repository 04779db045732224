"""The servers that modes and locks may use, each reached when first asked for."""

from __future__ import annotations

import threading
import weakref
from functools import cached_property
from importlib.util import find_spec
from typing import TYPE_CHECKING

import redis

from app.config import Settings
from app.domain import StoreAway
from app.store import keys
from app.store.clients.clock import StoreClock
from app.store.clients.cluster import Cluster
from app.store.clients.masters import Masters
from app.store.clients.redis import Meet, Metered, connect
from app.text import Text

if TYPE_CHECKING:
    from kazoo.client import KazooClient
    from sqlalchemy import Engine
    from sqlalchemy.orm import Session, sessionmaker

    from app.store.sql.transactions import Transactions

# Each master of redlock gets this fraction of the store's time-out: a purchase that meets five
# frozen masters, as it takes and as it releases the lock, still answers within a second.
MASTERS_SHARE = 5
PATIENCE = 3 / 4  # share of the time-out for an answer: the server's "no" must arrive before it

NO_ROW_LOCKS = Text(
    "SQLite cannot lock single rows: set DATABASE_URL to a PostgreSQL of yours, as in "
    "postgresql://user:password@host/orders."
)


class Servers:
    """One process's clients. A mode or a recipe gets these and a clock, nothing else."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._once = threading.Lock()
        self._zookeeper: KazooClient | None = None
        self.met: list[Meet] = []  # called with each new connection of `store`

    @cached_property
    def store(self) -> redis.Redis:
        # Weakly: fairlock keeps connections as long as their client, and they would keep it alive.
        mine = weakref.WeakMethod(self._meet)

        def meet(connection: Metered) -> None:
            if check := mine():
                check(connection)

        return connect(self.settings.store, self.settings.store_timeout, meet)

    def _meet(self, connection: Metered) -> None:
        for each in self.met:
            each(connection)

    @cached_property
    def clock(self) -> StoreClock:
        return StoreClock(self.store)

    def copied(self, item: str, *written: str) -> bool:
        """Wait until the item's sales are where DURABILITY wants them, before buyers get answers.

        The store's log is synced before it answers; what remains is a replica, of a server that has
        the keys that were `written`. False: no replica is wanted. Raises redis.RedisError.
        """
        if self.settings.durability != "replicated":
            return False
        _wait_for_replica(self.store, item, self.settings.store_timeout, *written)
        return True

    def own_store(self) -> redis.Redis:
        """Return a second client of the store, for a caller that changes or closes it."""
        return connect(self.settings.store, self.settings.store_timeout)

    @cached_property
    def engine(self) -> Engine:
        from app.store.sql import db  # here, and below: not all need a database, and it takes long
        from app.store.sql.transactions import FOR_PAGES

        settings = self.settings
        return db.engine(settings.database, settings.database_timeout, self._sellers + FOR_PAGES)

    @cached_property
    def sessions(self) -> sessionmaker[Session]:
        from app.store.sql import db

        return db.sessions(self.engine)

    @cached_property
    def transactions(self) -> Transactions:
        from app.store.sql.transactions import Transactions

        return Transactions(self.engine, self._sellers)

    @property
    def database(self) -> Engine:
        """Return the engine for a lock: it shares the connections for selling."""
        return self.transactions.engine

    @property
    def most_connections(self) -> int:
        """Return how many connections to the database all workers of this host's shop may have."""
        from app.store.sql.transactions import FOR_PAGES

        return self.settings.shop_workers * (self._sellers + FOR_PAGES)

    @property
    def _sellers(self) -> int:
        from app.store.sql.transactions import sellers

        return sellers(self.settings.shop_workers, self.settings.shop_threads)

    @cached_property
    def masters(self) -> list[redis.Redis]:
        """Redlock's masters, in the same order in every process.

        They are independent of each other and of the store. Raises StoreAway when there are none.
        """
        if missing := self.missing("masters"):
            raise StoreAway(missing)
        timeout = self.settings.store_timeout // MASTERS_SHARE
        return [connect(url, timeout) for url in self.settings.masters]

    @cached_property
    def known_masters(self) -> Masters:
        """Redlock's masters with their identities. Raises StoreAway."""
        return Masters(self.masters)

    @property
    def zookeeper(self) -> KazooClient:
        """This process's ZooKeeper session, begun at first use.

        Raises StoreAway without servers.
        """
        with self._once:  # two threads must not begin two
            if self._zookeeper is None:
                if missing := self.missing("zookeeper"):
                    raise StoreAway(missing)
                from app.store.clients import zookeeper  # an extra: it may not be installed

                settings = self.settings
                self._zookeeper = zookeeper.connect(
                    settings.zookeeper_hosts, settings.store_timeout
                )
            return self._zookeeper

    def missing(self, needs: str) -> str:
        """Return why a mode or recipe that needs `needs` cannot run here; "" when it can.

        Asks no server: whether it answers is another question, and changes.
        """
        if needs == "masters":
            return self._no_masters()
        if needs == "rows" and self.in_sqlite:
            return NO_ROW_LOCKS
        if needs == "zookeeper" and not self.settings.zookeeper_hosts:
            return Text("ZOOKEEPER_HOSTS is not set. Set it to host:port of servers of yours.")
        if needs == "zookeeper" and find_spec("kazoo") is None:
            return Text("ZooKeeper's client is not installed. `make install` brings it.")
        return ""

    @property
    def in_sqlite(self) -> bool:
        """Whether the database is SQLite, by the settings."""
        from sqlalchemy import make_url

        return make_url(self.settings.database).get_backend_name() == "sqlite"

    def _no_masters(self) -> str:
        if self.settings.redlock_urls:
            return ""
        if not self.settings.master_sockets:
            return Text(
                "The path %(path)s is too long for the sockets of redlock's masters: "
                "choose a shorter VAR_DIR, or set REDLOCK_URLS to three or more servers of yours.",
                path=self.settings.var,
            )
        if not any(socket.exists() for socket in self.settings.master_sockets):
            return Text(
                "REDLOCK_URLS is not set. `lastapple up` starts three masters; without it, set "
                "REDLOCK_URLS to three or more servers of yours."
            )
        return ""


class NotCopied(redis.TimeoutError):
    """Raised when no replica has confirmed in time. It may have the sale all the same, or later."""


def _wait_for_replica(store: redis.Redis, item: str, timeout_ms: int, *written: str) -> None:
    """Wait until one replica has all that the item's node was sent before, by any client.

    Uses WAIT, not WAITAOF: a replica reports how far its log is synced before it syncs what came
    with the question, and then not again for a second (docs/decisions/durability.md).

    `written` are keys that must exist, too: otherwise another server has taken over since they were
    written. That server does not have them, and has a replica of its own by now. One round trip.
    Raises NotCopied, redis.RedisError.
    """
    name = keys.copied(item)
    node = store.topology.node_of(name) if isinstance(store, Cluster) else store
    pipe = node.pipeline(transaction=False)
    # The server waits for what this connection has written, and the sale may have gone over
    # another one, days ago. So this one writes, and what was written before is copied before.
    pipe.set(name, 1)
    pipe.execute_command("WAIT", 1, int(timeout_ms * PATIENCE))
    pipe.exists(*written, name)
    _, replicas, existing = pipe.execute()
    if not replicas:
        raise NotCopied("No replica has confirmed it in time.")
    if existing <= len(written):
        raise NotCopied("Another server has taken over, which does not know of it.")
