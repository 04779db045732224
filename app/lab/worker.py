"""gunicorn's worker with greenlets, for a lab whose clients may be slow.

gunicorn's own worker lets a connection wait half a minute for its first request. A thousand idle
connections then keep all other clients out. Streams are not limited: they may last.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from socket import SHUT_RD
from typing import Any

from gevent import Timeout, getcurrent
from gunicorn.workers.ggevent import GeventWorker

from app.server.limits import ANSWER, REQUEST, connections, raise_open_files


class LabWorker(GeventWorker):  # type: ignore[misc]  # gunicorn has no types
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        raise_open_files()
        self.worker_connections = connections(self.cfg.worker_connections)
        self.sockets_of: dict[Any, Any] = {}  # greenlet -> its client
        self.waiting: dict[Any, None] = {}  # greenlets without a request, the oldest first

    def handle(self, listener: Any, client: Any, addr: Any) -> None:
        self.sockets_of[getcurrent()] = client
        if len(self.sockets_of) >= self.worker_connections and self.waiting:
            oldest = next(iter(self.waiting))
            del self.waiting[oldest]
            self._shut(oldest)
        try:
            super().handle(listener, client, addr)
        finally:
            del self.sockets_of[getcurrent()]

    def _shut(self, greenlet: Any) -> None:
        """Shut a client's socket: its greenlet reads an end, and ends."""
        with suppress(OSError):  # the client has closed it already
            self.sockets_of[greenlet].shutdown(SHUT_RD)

    @contextmanager
    def timeout_ctx(self) -> Iterator[None]:
        """Limit each wait for a request's head."""
        self.waiting[getcurrent()] = None
        try:
            with Timeout(REQUEST, False):
                yield
        finally:
            self.waiting.pop(getcurrent(), None)

    def handle_request(self, listener_name: Any, req: Any, sock: Any, addr: Any) -> None:
        sock.settimeout(ANSWER)  # for each piece of the answer
        try:
            super().handle_request(listener_name, req, sock, addr)
        except TimeoutError as slow:
            raise StopIteration from slow
