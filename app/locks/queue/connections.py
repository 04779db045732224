"""A thread's two connections to the lock's server: one that speaks, one that listens.

Not from the client's pool: a listener waits for as long as its turn takes, and the store knows by
its open connection that the waiter lives. Speaking without redis-py's layers for retries and
pools halves what a command costs us.
"""

from __future__ import annotations

import os
import threading
import time
import uuid
import weakref
from collections.abc import Sequence
from typing import Any

import orjson
import redis
from redis.cluster import RedisCluster
from redis.connection import AbstractConnection

from app.locks.queue.scripts import Script
from app.store.cluster import Cluster
from app.store.redis import NEVER_RESEND, connection_to, tell

LIMIT = 5.0  # s for each answer, where the client that we were given has no limit of its own
IDLE = 0.5  # s of silence after which the server may have hung up without our knowing
# How often to look for an answer before sleeping until it comes, about 50 µs in all: to be woken
# takes as long as the server does. Only while nobody else wants the lock; a crowd needs the cores.
LOOKS = 20
KEPT = 64  # pairs of a thread for one cluster, each for one hash tag; a single server needs one

_thread = threading.local()


def connections(client: Any, tag: str) -> Connections:
    """This thread's pair for `client`; `tag` leads to the right node of a cluster."""
    try:
        clients: weakref.WeakKeyDictionary[Any, dict[tuple[int, str], Connections]]
        clients = _thread.clients
    except AttributeError:
        clients = _thread.clients = weakref.WeakKeyDictionary()
    if not isinstance(client, (Cluster, RedisCluster)):
        # All locks share it: a thread waits for one at a time, and a word has its place's number.
        tag = ""
    mine = (os.getpid(), tag)  # a forked child must not speak on its parent's connections
    known = clients.setdefault(client, {})
    pair = known.pop(mine, None)
    if pair is None:
        if len(known) >= KEPT:
            known.pop(next(iter(known))).close()
        pair = Connections(client, tag)
    known[mine] = pair  # the last: the first is the one that has not been used for longest
    return pair


class Connections:
    """Opened when first used; closed with their thread."""

    def __init__(self, client: Any, tag: str) -> None:
        self.client: Any = weakref.proxy(client)  # else `_thread` would keep it alive for ever
        self.tag = tag
        self.channel = self._new_channel()
        self.listening = False
        self.places = 0  # that its thread has taken in line so far
        self.crowded = False  # did the last turn have to be waited for?
        self._speaker: AbstractConnection | None = None
        self._listener: AbstractConnection | None = None
        self._spoken = 0.0  # time.monotonic() of the last answer

    def call(self, script: Script, keys: Sequence[str], args: Sequence[Any]) -> Any:
        """Run a script. Sent once: whoever may send it again does so himself.

        Raises redis.ConnectionError or TimeoutError: whether it ran is unknown.
        """
        try:
            return self._say(script, keys, args)
        except redis.exceptions.MovedError as error:  # the slot lives elsewhere: it has not run
            self.close()
            tell(self.client, error)
            return self._say(script, keys, args)

    def _say(self, script: Script, keys: Sequence[str], args: Sequence[Any]) -> Any:
        try:
            if self._speaker is None:
                self._speaker = self._open()
            elif time.monotonic() > self._spoken + IDLE:
                self._look(self._speaker)
            looks = 0 if self.crowded else LOOKS
            words = [len(keys), *keys, *args]
            try:
                answer = _ask(self._speaker, "EVALSHA", script.sha, *words, looks=looks)
            except redis.exceptions.NoScriptError:  # it has not run
                answer = _ask(self._speaker, "EVAL", script.text, *words)
        except redis.ResponseError:
            raise
        except BaseException as error:
            self._hang_up()  # an answer may still come: never read it as another's
            if isinstance(error, redis.RedisError):
                tell(self.client, error)
            raise
        self._spoken = time.monotonic()
        return answer

    def listen(self) -> None:
        """Subscribe; to the same channel as before when the connection had been lost."""
        try:
            self._subscribe()
        except redis.exceptions.MovedError:  # of which the client has been told
            self._subscribe()

    def _subscribe(self) -> None:
        try:
            if self._listener is None:
                self._listener = self._open()
            _ask(self._listener, "SSUBSCRIBE", self.channel)
        except BaseException as error:
            self.deafen()
            if isinstance(error, redis.RedisError):
                tell(self.client, error)
            raise
        self.listening = True

    def hear(self, seconds: float) -> list[Any] | None:
        """What is said next, to whomever of this thread; None: nothing within `seconds`.

        Raises redis.ConnectionError when the store has hung up; then listen() again.
        """
        if self._listener is None:
            raise redis.ConnectionError("Nobody listens.")
        try:
            kind, _, said = self._listener.read_response(timeout=seconds, disconnect_on_error=False)
            if kind != b"smessage":
                # "sunsubscribe": the channel's slot has moved to another node of the cluster.
                raise redis.ConnectionError("Nothing is said here any more.")
        except redis.TimeoutError:
            return None
        except BaseException as error:
            self.deafen()
            if isinstance(error, redis.RedisError):
                tell(self.client, error)
            raise
        # A value that comes along may be any bytes: read each as one character, not as UTF-8.
        word: list[Any] = orjson.loads(said.decode("latin-1"))
        return word

    def deafen(self) -> None:
        """Hang up the listener: the store must see at once that nobody listens."""
        self.listening = False
        if self._listener is not None:
            self._listener.disconnect()
            self._listener = None  # on a cluster, the next one may have to go to another node

    def forsake(self) -> None:
        """Nobody listens on this channel again: a place that may still be in some line is void."""
        self.deafen()
        self.channel = self._new_channel()

    def _new_channel(self) -> str:
        return f"{self.tag or 'waiter'}:{uuid.uuid4().hex}"

    def close(self) -> None:
        self.deafen()
        self._hang_up()

    def _hang_up(self) -> None:
        if self._speaker is not None:
            self._speaker.disconnect()
            self._speaker = None  # as above

    def _open(self) -> AbstractConnection:
        # Whoever wants to try again does so himself: the client's own retries come on top of his.
        options = {"protocol": 2, "retry": NEVER_RESEND, "decode_responses": False}
        connection = connection_to(self.client, self.channel, **options)
        if connection.socket_timeout is None:
            connection.socket_timeout = LIMIT
            connection.socket_connect_timeout = LIMIT
        connection.connect()
        return connection

    @staticmethod
    def _look(speaker: AbstractConnection) -> None:
        """Open anew what the server has closed meanwhile. Nothing was sent: this is no resend."""
        speaker.connect()
        try:
            closed = speaker.can_read(0)
        except (redis.ConnectionError, redis.TimeoutError):
            closed = True
        if closed:
            speaker.disconnect()
            speaker.connect()


def _ask(connection: AbstractConnection, *words: Any, looks: int = 0) -> Any:
    connection.send_command(*words, check_health=False)  # we look at it ourselves
    any(connection.can_read(0) for _ in range(looks))
    return connection.read_response()
