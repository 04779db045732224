"""A customer's connection: the bytes of a request so far, and of an answer not yet sent."""

from __future__ import annotations

import re
import socket
from collections.abc import Callable
from typing import Any

from gunicorn.http import get_parser
from gunicorn.workers.gthread import TConn

from app.server.parse import LARGEST_BODY

LARGEST_HEAD = 16 * 1024  # bytes
# The fields that say where a request ends, and whether its client waits for 100 Continue.
FRAMING = re.compile(
    rb"\r\n(content-length|transfer-encoding|expect)[ \t]*:[ \t]*([^\r\n]*)", re.IGNORECASE
)
LENGTH = re.compile(rb"\d{1,9}")
CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"


class HeadTooLarge(Exception):
    """Raised when a request's head does not end within LARGEST_HEAD bytes."""


class Outgoing(socket.socket):
    """A socket without waits: writes are kept until `flush`, and are then sent together."""

    def __init__(self, accepted: socket.socket) -> None:
        family, kind, protocol = accepted.family, accepted.type, accepted.proto
        super().__init__(family, kind, protocol, accepted.detach())
        super().setblocking(False)
        self.kept = bytearray()

    def setblocking(self, _flag: bool) -> None:
        """Do nothing: gunicorn's threads would wait for a client to read."""

    def sendall(self, data: Any, _flags: int = 0) -> None:
        self.kept += data

    def flush(self) -> None:
        """Send what the client takes now; the rest stays in `kept`. Raises OSError."""
        try:
            while self.kept:
                del self.kept[: self.send(self.kept)]
        except BlockingIOError:
            pass


class Connection(TConn):  # type: ignore[misc]  # gunicorn has no types
    """A connection whose parser gets one whole request at a time, and never the socket."""

    def __init__(self, cfg: Any, accepted: socket.socket, client: Any, server: Any) -> None:
        super().__init__(cfg, Outgoing(accepted), client, server)
        self.parser = get_parser(cfg, (), client)
        self.data_ready = True
        self.incoming = bytearray()
        self.keep = True  # open for a further request
        self.event = 0  # event for which the poller has it; 0: the poller has it not
        self.then: Callable[[Connection], None] = lambda _conn: None  # called at that event
        self.needed = 0  # bytes of the request; 0 until its head has come

    def request(self) -> bool:
        """Return whether a request is complete; if so, the parser has it. Raises HeadTooLarge.

        Without a length that we accept, the request is complete with its head and is the last one
        here. Parser or application refuse it, and the begin of a next request could not be found.
        """
        if not self.needed:
            self._read_head()
        if not self.needed or len(self.incoming) < self.needed:
            return False
        self.parser.unreader.unread(bytes(self.incoming[: self.needed]))
        del self.incoming[: self.needed]
        self.needed = 0
        return True

    def _read_head(self) -> None:
        end = self.incoming.find(b"\r\n\r\n") + 4
        if max(end, len(self.incoming) if end < 4 else 0) > LARGEST_HEAD:
            raise HeadTooLarge
        if end < 4:
            if self.incoming.count(b"\n") > self.incoming.count(b"\r\n"):
                self.needed, self.keep = len(self.incoming), False  # such lines have no end
            return
        self.needed = end
        headers = [(name.lower(), value) for name, value in FRAMING.findall(self.incoming, 0, end)]
        values = dict(headers)
        length = values.get(b"content-length", b"0").rstrip(b" \t")
        once = len(values) == len(headers) and b"transfer-encoding" not in values
        if not once or not LENGTH.fullmatch(length) or int(length) > LARGEST_BODY:
            self.keep = False
            return
        self.needed += int(length)
        if b"expect" in values and len(self.incoming) < self.needed:
            self.sock.sendall(CONTINUE)
            self.sock.flush()
