"""redis-py's client, whose commands travel together."""

from __future__ import annotations

import math
import time
from functools import lru_cache
from typing import Any, Self, cast

import hiredis
import redis
from redis.backoff import NoBackoff
from redis.connection import HiredisRespSerializer
from redis.retry import Retry

from autopipe.call import Call
from autopipe.line import Line
from autopipe.own import OWN

FOR_EVER = -1.0  # as threading.Lock.acquire() calls it


class Redis(redis.Redis):
    """As redis.Redis, for threads: what they send at the same moment goes in one packet.

    Nothing is sent twice, whatever `retry` says. A lost reply is redis.ConnectionError or
    TimeoutError for each thread whose command was sent.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        kwargs.setdefault("retry", Retry(NoBackoff(), 0))
        super().__init__(*args, **kwargs)
        pool = self.connection_pool
        self._line = Line(pool.make_connection)
        self._timeout: float | None = pool.connection_kwargs.get("socket_timeout")
        encoder = pool.get_encoder()
        self._encoder = encoder if encoder.decode_responses else None
        # A client of one connection has its own; a client-side cache listens on each.
        self._alone = self.connection is not None or pool.cache is not None

    @classmethod
    def from_url(cls, url: str, **kwargs: Any) -> Self:
        return cast(Self, super().from_url(url, **kwargs))

    def execute_command(self, *args: Any, **options: Any) -> Any:
        words = _words(args[0])
        if words is None or self._alone:
            return super().execute_command(*args, **options)
        packed = _packed(words, args)
        self.on_call(args)
        timeout = self._timeout
        deadline = math.inf if timeout is None else time.monotonic() + timeout
        call = Call(packed, deadline, self._encoder)
        self._line.ask(call, FOR_EVER if timeout is None else timeout)
        return self.parse_response(call, args[0], **options)

    def on_call(self, args: tuple[Any, ...]) -> None:
        """Called in its thread before a command goes the shared way. For a subclass that counts."""

    def close(self) -> None:
        super().close()
        self._line.close()


@lru_cache(4096)
def _words(name: str | bytes) -> tuple[str, ...] | None:
    """Of a command's name, `CONFIG GET` has two. None: it does not share a connection."""
    words = (name.decode() if isinstance(name, bytes) else name).split()
    return None if words[0].upper() in OWN else tuple(words)


def _packed(words: tuple[str, ...], args: tuple[Any, ...]) -> bytes:
    """Raises redis.DataError for what cannot be sent."""
    try:
        packed: bytes = hiredis.pack_command(args if len(words) == 1 else (*words, *args[1:]))
    except TypeError:  # bytearray, memoryview; or nothing that anybody can send
        (packed,) = HiredisRespSerializer().pack(*args)
    return packed
