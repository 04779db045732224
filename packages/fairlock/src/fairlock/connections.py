"""A thread's two connections to the lock's server: one for commands, one that is subscribed.

They are not from the client's pool: a subscriber waits until its turn comes, and by its open
connection the server knows that the waiter lives. Sending without redis-py's layers for retries and
pools halves the cost of a command.
"""

from __future__ import annotations

import json
import os
import threading
import time
import uuid
import weakref
from collections.abc import Sequence
from itertools import count
from typing import Any

import redis
from redis.backoff import NoBackoff
from redis.connection import AbstractConnection
from redis.retry import Retry

from fairlock.clients import connection_to, is_cluster, learn_from
from fairlock.scripts import Script

ANSWER_TIMEOUT_S = 5.0  # if the client has no timeout of its own
IDLE_S = 0.5  # of silence after which the server may have closed the connection unnoticed
# How often to look for an answer before blocking until it comes, about 50 µs in all: waking up
# takes as long as the server does. Only if no other client wants the lock; a crowd needs the cores.
SPINS = 20
MOST_PAIRS = 64  # of a thread for one cluster, each for one hash tag; a single server needs one

_never_resend = Retry(NoBackoff(), 0)


class _Shared:
    """Connections that the threads of this process share for one client."""

    def __init__(self, client: Any) -> None:
        self.by_tag = is_cluster(client)
        self.name = uuid.uuid4().hex
        self.numbers = count(1)  # of connections
        self.thread = threading.local()  # `pairs`: a thread's, the least recently used first


_clients: weakref.WeakKeyDictionary[Any, _Shared] = weakref.WeakKeyDictionary()
# A forked child is a process of its own, and must not send on its parent's connections.
os.register_at_fork(after_in_child=_clients.clear)


def _shared(client: Any) -> _Shared:
    # Two threads may get here at once: setdefault() keeps the first thread's entry.
    return _clients.get(client) or _clients.setdefault(client, _Shared(client))


def process(client: Any) -> str:
    """Return a name for this process's threads that share `client`; a forked child has another."""
    return f"process-{_shared(client).name}"


def connections(client: Any, tag: str) -> Connections:
    """Return this thread's pair for `client`; `tag` selects the server of a cluster."""
    shared = _shared(client)
    try:
        pairs: dict[str, Connections] = shared.thread.pairs
    except AttributeError:
        pairs = shared.thread.pairs = {}
    # All locks of a single server share one pair: a thread waits for one lock at a time, and a
    # message has the number of its place in line.
    tag = tag if shared.by_tag else ""
    pair = pairs.pop(tag, None)
    if pair is None:
        if len(pairs) >= MOST_PAIRS:
            pairs.pop(next(iter(pairs))).close()
        pair = Connections(client, tag)
    pairs[tag] = pair
    return pair


class Connections:
    """A thread's pair of connections, opened on first use and closed when the thread ends."""

    def __init__(self, client: Any, tag: str) -> None:
        self.client: Any = weakref.proxy(client)  # otherwise `_clients` would keep it alive forever
        self.tag = tag
        shared = _shared(client)
        self.name = f"{shared.name}-{next(shared.numbers)}"
        self.abandoned = 0  # channels
        self.subscribed = False
        self.places = 0  # how many its thread has taken in line so far
        self.contended = False  # did the thread have to wait for the last turn?
        self._sender: AbstractConnection | None = None
        self._subscriber: AbstractConnection | None = None
        self._answered_at = 0.0  # time.monotonic()

    def call(self, script: Script, keys: Sequence[str], args: Sequence[Any]) -> Any:
        """Run a script. It is sent once: only the caller knows whether it may be sent again.

        Raises redis.ConnectionError or TimeoutError: whether it ran is unknown.
        """
        try:
            return self._send(script, keys, args)
        except redis.exceptions.MovedError as error:  # the slot has moved: the script has not run
            self.close()
            learn_from(self.client, error)
            return self._send(script, keys, args)

    def _send(self, script: Script, keys: Sequence[str], args: Sequence[Any]) -> Any:
        try:
            if self._sender is None:
                self._sender = self._open()
            elif time.monotonic() > self._answered_at + IDLE_S:
                self._reopen_if_closed(self._sender)
            spins = 0 if self.contended else SPINS
            words = [len(keys), *keys, *args]
            try:
                answer = _request(self._sender, "EVALSHA", script.sha, *words, spins=spins)
            except redis.exceptions.NoScriptError:  # it has not run
                answer = _request(self._sender, "EVAL", script.text, *words)
        except redis.ResponseError:
            raise
        except BaseException as error:
            self._hang_up()  # an answer may still come: it must not be read as another command's
            if isinstance(error, redis.RedisError):
                learn_from(self.client, error)
            raise
        self._answered_at = time.monotonic()
        return answer

    @property
    def channel(self) -> str:
        """Return the unique name of its channel."""
        return f"{self.tag or 'waiter'}:{self.name}-{self.abandoned}"

    def subscribe(self) -> None:
        """Subscribe, to the same channel as before if the connection was lost."""
        try:
            self._subscribe()
        except redis.exceptions.MovedError:  # the client has learned the slot's new server
            self._subscribe()

    def _subscribe(self) -> None:
        try:
            if self._subscriber is None:
                self._subscriber = self._open()
            _request(self._subscriber, "SSUBSCRIBE", self.channel)
        except BaseException as error:
            self.unsubscribe()
            if isinstance(error, redis.RedisError):
                learn_from(self.client, error)
            raise
        self.subscribed = True

    def next_message(self, timeout_s: float) -> list[Any] | None:
        """Return a message to any place of this thread; None if none came in `timeout_s`.

        Raises redis.ConnectionError when the server has closed the connection; then subscribe()
        again.
        """
        if self._subscriber is None:
            raise redis.ConnectionError("Not subscribed: call subscribe() first.")
        try:
            kind, _, payload = self._subscriber.read_response(
                timeout=timeout_s, disconnect_on_error=False
            )
            if kind != b"smessage":
                # "sunsubscribe": the channel's slot has moved to another server of the cluster.
                raise redis.ConnectionError("The channel has moved: subscribe again.")
        except redis.TimeoutError:
            return None
        except BaseException as error:
            self.unsubscribe()
            if isinstance(error, redis.RedisError):
                learn_from(self.client, error)
            raise
        # A value that comes along may be any bytes: read each as one character, not as UTF-8.
        message: list[Any] = json.loads(payload.decode("latin-1"))
        return message

    def unsubscribe(self) -> None:
        """Close the connection, so that the server sees at once that there is no listener."""
        self.subscribed = False
        if self._subscriber is not None:
            self._subscriber.disconnect()
            self._subscriber = None  # on a cluster, the next one may have to go to another server

    def abandon_channel(self) -> None:
        """Give up the channel for good: a place that may still be in some line becomes void."""
        self.unsubscribe()
        self.abandoned += 1

    def close(self) -> None:
        self.unsubscribe()
        self._hang_up()

    def _hang_up(self) -> None:
        if self._sender is not None:
            self._sender.disconnect()
            self._sender = None  # see unsubscribe()

    def _open(self) -> AbstractConnection:
        # The lock decides what is sent again: the client's own retries would multiply its own.
        options = {"protocol": 2, "retry": _never_resend, "decode_responses": False}
        # A server announces maintenance by RESP3 only; without hiredis these messages are refused.
        options["maint_notifications_config"] = None
        connection = connection_to(self.client, self.channel, **options)
        if connection.socket_timeout is None:
            connection.socket_timeout = ANSWER_TIMEOUT_S
            connection.socket_connect_timeout = ANSWER_TIMEOUT_S
        connection.connect()
        return connection

    @staticmethod
    def _reopen_if_closed(sender: AbstractConnection) -> None:
        """Reopen the connection if the server has closed it. Nothing was sent, so this is no
        resend.
        """
        sender.connect()
        try:
            closed = sender.can_read(0)
        except (redis.ConnectionError, redis.TimeoutError):
            closed = True
        if closed:
            sender.disconnect()
            sender.connect()


def _request(connection: AbstractConnection, *words: Any, spins: int = 0) -> Any:
    connection.send_command(*words, check_health=False)  # see _reopen_if_closed()
    any(connection.can_read(0) for _ in range(spins))
    return connection.read_response()
