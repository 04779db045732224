"""One command under way: what its thread hands in, and what it is answered."""

from __future__ import annotations

import threading
from typing import Any

from redis._parsers import Encoder

PENDING: Any = object()  # no reply yet: a reply may be anything, None too


class Call:
    """Made by the thread that asks, answered by whoever leads then (see line.py).

    To redis-py it is a connection from which that one reply can be read.
    """

    __slots__ = ("deadline", "encoder", "gone", "packed", "reply", "woken")

    def __init__(self, packed: bytes, deadline: float, encoder: Encoder | None) -> None:
        """`deadline` is by time.monotonic(); `encoder` decodes the reply."""
        self.packed = packed
        self.deadline = deadline
        self.encoder = encoder
        self.reply = PENDING  # an exception: what its thread raises
        self.gone = False  # its thread does not wait any more
        self.woken = threading.Lock()  # released when there is a reply, or to lead
        self.woken.acquire()

    @property
    def awaited(self) -> bool:
        return self.reply is PENDING and not self.gone

    def read_response(self, disable_decoding: bool = False) -> Any:
        """In the thread that asked: what it cannot decode is no matter of the others'."""
        if isinstance(self.reply, Exception):
            raise self.reply
        if self.encoder is None or disable_decoding:
            return self.reply
        return _decoded(self.reply, self.encoder)


def _decoded(reply: Any, encoder: Encoder) -> Any:
    match reply:
        case bytes():
            return encoder.decode(reply)
        case list():
            return [_decoded(one, encoder) for one in reply]
        case dict():
            return {_decoded(key, encoder): _decoded(one, encoder) for key, one in reply.items()}
        case set():
            return {_decoded(one, encoder) for one in reply}
    return reply
