"""ZooKeeper client for the recipe of that name: every request has a limit, no node is left behind.

kazoo's plain methods wait for an answer without a limit. Requests made while the connection is away
are sent when it is back, long after we have given up.
"""

from __future__ import annotations

import threading
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

from kazoo.client import KazooClient
from kazoo.exceptions import ConnectionLoss, KazooException, NoNodeError, SessionExpiredError
from kazoo.handlers.threading import KazooTimeoutError
from kazoo.protocol.states import KazooState

from app.domain import StoreAway
from app.store.clients.redis import sent

# s that a dead process keeps its locks, unless the servers allow less: shorter than a buyer's
# patience, and the shortest that they allow by default. It pings three times in it. It is also how
# long kazoo waits for a server that accepts a connection and sends nothing.
SESSION = 4.0
# kazoo would wait longer and longer between two tries to connect, up to an hour.
CONNECTING = {"max_tries": -1, "delay": 0.05, "max_delay": 1.0}
LIMIT_S = 5.0  # for each answer, unless the caller sets another limit


@dataclass(frozen=True, slots=True)
class LineNode:
    """A node in a line. Its name is its owner's token and a number that rises with each node."""

    folder: str
    name: str
    zxid: int  # of its creation: rises with every write to ZooKeeper
    session: int  # the node is deleted when this session ends

    @property
    def path(self) -> str:
        return f"{self.folder}/{self.name}"


def connect(hosts: str, timeout_ms: int) -> KazooClient:
    """Connect a session; ZooKeeper.over() waits `timeout_ms` for each of its answers."""
    client = KazooClient(hosts, timeout=SESSION, connection_retry=CONNECTING)
    ZooKeeper.over(client, timeout_ms / 1000)
    return client


class ZooKeeper:
    """A kazoo client with limits. Every method raises StoreAway when its servers do not answer."""

    def __init__(self, client: KazooClient, limit_s: float) -> None:
        self.client: Any = weakref.proxy(client)  # else `_over` would keep it alive forever
        self.limit = limit_s
        self._strays: set[tuple[str, str]] = set()
        client.add_listener(self._look_for_strays)
        # A client that is connected stays as it is.
        self._connected: threading.Event = client.start_async()

    @classmethod
    def over(cls, client: KazooClient, limit_s: float = LIMIT_S) -> ZooKeeper:
        """Return the one ZooKeeper for all users of `client`; the first caller sets its limit."""
        with _once:
            known = _over.get(client)
            if known is None:
                known = _over[client] = cls(client, limit_s)
            return known

    @property
    def session(self) -> int | None:
        """The session's number; None while the servers cannot be reached."""
        known: tuple[int, bytes] | None = self.client.client_id
        return known[0] if known else None

    def create(self, folder: str, token: str) -> LineNode:
        """Take the last place in the line `folder`: an ephemeral, sequential node.

        When that fails, a node that was created all the same is deleted (see `forget`).
        """
        by = self._now() + self.limit
        wanted = {"path": f"{folder}/{token}-", "ephemeral": True, "sequence": True}
        with self._answering(), self._forgotten_if_it_fails(folder, token):
            try:
                path, made = self._ask(by, self.client.create_async, **wanted, include_data=True)
            except NoNodeError:  # this line never had a node
                self._ask(by, self.client.ensure_path_async, path=folder)
                path, made = self._ask(by, self.client.create_async, **wanted, include_data=True)
        return LineNode(folder, path.rpartition("/")[2], made.czxid, made.ephemeralOwner)

    def get_children(self, folder: str) -> list[str]:
        """Return the names of the nodes in a line, in no order."""
        with self._answering():
            try:
                names: list[str] = self._ask(
                    self._now() + self.limit, self.client.get_children_async, path=folder
                )
            except NoNodeError:
                return []
        return names

    def watch(self, path: str) -> threading.Event | None:
        """Return an event that is set when the node is deleted or the connection breaks.

        None: the node is gone already.
        """
        # `get`, not `exists`: that would leave a watch behind for a node that never comes again.
        gone = threading.Event()
        with self._answering():
            try:
                self._ask(
                    self._now() + self.limit,
                    self.client.get_async,
                    path=path,
                    watch=lambda _event: gone.set(),
                )
            except NoNodeError:
                return None
        return gone

    def delete(self, place: LineNode) -> bool:
        """Leave the line. False: the place was gone already.

        The request is repeated after a broken connection: no other node ever has this name.
        """
        by = self._now() + self.limit
        again = False
        with self._answering(), self._forgotten_if_it_fails(place.folder, place.name):
            while True:
                try:
                    self._ask(by, self.client.delete_async, path=place.path)
                    return True
                except ConnectionLoss:
                    again = True
                except SessionExpiredError:
                    return False
                except NoNodeError:
                    # It was mine until now if the first DELETE removed it.
                    return again and self.session == place.session

    def forget(self, folder: str, token: str) -> None:
        """Delete the node whose name begins with `token`, if there is one; wait for nothing.

        This is for a node whose creation or deletion is in doubt. The servers handle a session's
        requests in order, so they look for the node after that request; and once more after a break
        of the connection. If the session ends, the node ends with it.
        """
        self._strays.add((folder, token))
        self._look_for(folder, token)

    def _look_for_strays(self, state: str) -> None:
        if state == KazooState.CONNECTED:
            for folder, token in list(self._strays):
                self._look_for(folder, token)

    def _look_for(self, folder: str, token: str) -> None:
        self.client.get_children_async(folder).rawlink(partial(self._seen, folder, token))

    def _seen(self, folder: str, token: str, listing: Any) -> None:
        if listing.successful():
            mine = [name for name in listing.value if name.startswith(token)]
        elif isinstance(listing.exception, NoNodeError):
            mine = []
        else:
            return  # until the connection is back
        for name in mine:
            self.client.delete_async(f"{folder}/{name}").rawlink(partial(self._gone, folder, token))
        if not mine:
            self._strays.discard((folder, token))

    def _gone(self, folder: str, token: str, deleted: Any) -> None:
        if deleted.successful() or isinstance(deleted.exception, NoNodeError):
            self._strays.discard((folder, token))

    @contextmanager
    def _forgotten_if_it_fails(self, folder: str, token: str) -> Iterator[None]:
        try:
            yield
        except BaseException:
            self.forget(folder, token)
            raise

    def _ask(self, by: float, request: Callable[..., Any], **what: Any) -> Any:
        """Send one request once we are connected, and return its answer by `by`.

        Raises kazoo's errors.
        """
        if not self._connected.wait(max(0.0, by - self._now())):
            raise KazooTimeoutError("not connected")
        sent(1)
        return request(**what).get(timeout=max(0.0, by - self._now()))

    @contextmanager
    def _answering(self) -> Iterator[None]:
        try:
            yield
        except (KazooException, KazooTimeoutError) as error:
            reason = str(error) or type(error).__name__
            hosts = ",".join(f"{host}:{port}" for host, port, *_ in self.client.hosts)
            raise StoreAway(f"ZooKeeper ({hosts}) does not answer: {reason}") from error

    @staticmethod
    def _now() -> float:
        return time.monotonic()


_over: weakref.WeakKeyDictionary[KazooClient, ZooKeeper] = weakref.WeakKeyDictionary()
_once = threading.Lock()
