"""gunicorn's worker with threads, where a thread is taken for a whole request only.

gunicorn's own worker gives a thread to every client that has sent a byte, and waits in it for the
rest. Its only loop waits until a client that wanted the connection closed has closed it, too. Here
the loop reads, sends the rest of answers and waits for all clients, each for a limited time;
threads never wait for a client.

The cost of a usual request is kept low: its connection stays in the poller. A thread that has sent
a whole answer lets the connection wait for the next request by itself, without a message to the
loop.
"""

from __future__ import annotations

import errno
import socket
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from queue import SimpleQueue
from selectors import EVENT_READ, EVENT_WRITE
from typing import Any

from gunicorn import util
from gunicorn.workers.gthread import ThreadWorker

from app.server.connection import Connection, HeadTooLarge
from app.server.limits import ANSWER, REQUEST, connections, raise_open_files


class CachedConfig:
    """gunicorn's settings, each looked up once.

    gunicorn itself looks up some twenty of them by name for every request: a fifth of all its work.
    """

    def __init__(self, cfg: Any) -> None:
        self._cfg = cfg

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._cfg, name)
        setattr(self, name, value)
        return value


LINGER = 2  # s for the client to close: if we close at once, it may lose the answer
STOPPED = 0.5  # s for requests that are on their way when the worker must stop
SWEEP = 1  # s between two looks at the clock
PIECE = 16 * 1024  # bytes read at once


class Gate(ThreadWorker):  # type: ignore[misc]  # gunicorn has no types
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.cfg: Any = CachedConfig(self.cfg)
        # Connection -> deadline, the longest wait first. Threads add to it: iterate over a copy.
        self.waiting: dict[Connection, float] = {}
        self.asked: SimpleQueue[Connection | None] = SimpleQueue()  # with a complete request
        self.turn = 0.0  # when the loop last polled
        self.swept = 0.0
        raise_open_files()
        self.most = self.worker_connections = connections(self.cfg.worker_connections)
        self.keepalive = self.cfg.keepalive

    def get_thread_pool(self) -> ThreadPoolExecutor:
        pool = ThreadPoolExecutor(self.cfg.threads)
        for _ in range(self.cfg.threads):
            pool.submit(self._serve)
        return pool

    def run(self) -> None:
        try:
            super().run()
        finally:
            for _ in range(self.cfg.threads):
                self.asked.put(None)

    def accept(self, listener: Any) -> None:
        try:
            accepted, client = listener.accept()
        except OSError as error:
            if error.errno in (errno.EMFILE, errno.ENFILE):
                self.worker_connections = self.nr_conns  # until the next sweep
                self._make_room()
            elif error.errno not in (errno.EAGAIN, errno.ECONNABORTED):
                raise
            return
        self.nr_conns += 1
        self._make_room()
        conn = Connection(self.cfg, accepted, client, listener.getsockname())
        self._wait(conn, EVENT_READ, self._read, REQUEST)

    def _make_room(self) -> None:
        """Drop the client that has been waited for longest, when there is no room for a new one."""
        if self.nr_conns >= self.worker_connections and self.waiting:
            self._drop(next(iter(self.waiting.copy())))

    def _wait(
        self, conn: Connection, event: int, then: Callable[[Connection], None], seconds: float
    ) -> None:
        self._listen(conn, event)
        conn.then = then
        self.waiting[conn] = time.monotonic() + seconds

    def _listen(self, conn: Connection, event: int) -> None:
        if not conn.event:
            self.poller.register(conn.sock, event, partial(self._wake, conn))
        elif conn.event != event:
            self.poller.modify(conn.sock, event, partial(self._wake, conn))
        conn.event = event

    def _wake(self, conn: Connection, _socket: Any) -> None:
        if conn in self.waiting:
            conn.then(conn)
        elif conn.event:
            # It sends more, or leaves, before its answer: the poller would report that endlessly.
            self.poller.unregister(conn.sock)
            conn.event = 0
            self._hear(conn)  # a thread may have let it wait in between

    def _hear(self, conn: Connection) -> None:
        if conn in self.waiting and not conn.event:
            self._listen(conn, EVENT_READ)

    def _stop_waiting(self, conn: Connection) -> None:
        self.waiting.pop(conn, None)

    def _drop(self, conn: Connection) -> None:
        self._stop_waiting(conn)
        if conn.event:
            self.poller.unregister(conn.sock)
            conn.event = 0
        self.nr_conns -= 1
        conn.sock.close()

    def _read(self, conn: Connection) -> None:
        try:
            piece = conn.sock.recv(PIECE)
        except BlockingIOError:
            return
        except OSError:
            piece = b""
        if not piece:
            self._drop(conn)
            return
        if not conn.incoming:
            self.waiting[conn] = time.monotonic() + REQUEST
        conn.incoming += piece
        self._ask(conn)

    def _ask(self, conn: Connection) -> bool:
        """Give the request to a thread. False: it is not complete yet."""
        try:
            if not conn.request():
                return False
        except HeadTooLarge:
            self._refuse(conn, 431, "Request Header Fields Too Large")
            return True
        except OSError:  # the client left before our 100 Continue
            self._drop(conn)
            return True
        self._stop_waiting(conn)
        self.asked.put(conn)
        return True

    def _refuse(self, conn: Connection, status: int, reason: str) -> None:
        self._stop_waiting(conn)
        util.write_error(conn.sock, status, reason, "")
        conn.keep = False
        self._send(conn)

    def _serve(self) -> None:
        """Run a thread: answer requests.

        Bytes that a client does not take at once are the loop's.
        """
        while conn := self.asked.get():
            if not self._answer(conn):
                self.method_queue.defer(self._drop, conn)
            elif conn.keep and conn.event == EVENT_READ and not (conn.sock.kept or conn.incoming):
                conn.then = self._read
                self.waiting[conn] = time.monotonic() + self.keepalive
                if not conn.event:  # the loop has stopped listening meanwhile
                    self.method_queue.defer(self._hear, conn)
            else:
                self.method_queue.defer(self._send, conn)

    def _answer(self, conn: Connection) -> bool:
        """Answer a request. False: the client has gone, or the answer failed."""
        try:
            conn.keep = bool(self.handle(conn))
            conn.sock.flush()
        except OSError:  # the client has gone
            return False
        except BaseException:  # on any error: the next client needs this thread
            self.log.exception("no answer")
            return False
        return True

    def handle_request(self, req: Any, conn: Connection) -> bool:
        req._expected_100_continue = False  # we have sent it, or the body came without it
        if not conn.keep:
            req.force_close()
        return bool(super().handle_request(req, conn))

    def _send(self, conn: Connection) -> None:
        """Send the rest of an answer; then wait for the next request, or close."""
        try:
            conn.sock.flush()
            if conn.sock.kept:
                if conn not in self.waiting:
                    self._wait(conn, EVENT_WRITE, self._send, ANSWER)
                return
            self._stop_waiting(conn)
            if not conn.keep:
                conn.incoming.clear()
                conn.sock.shutdown(socket.SHUT_WR)
                self._wait(conn, EVENT_READ, self._drain, LINGER)
                return
        except OSError:
            self._drop(conn)
            return
        if not (conn.incoming and self._ask(conn)):
            idle = REQUEST if conn.incoming else self.keepalive
            self._wait(conn, EVENT_READ, self._read, idle)

    def _drain(self, conn: Connection) -> None:
        try:
            if conn.sock.recv(PIECE):
                return
        except BlockingIOError:
            return
        except OSError:
            pass
        self._drop(conn)

    # Called by gunicorn's loop: for each turn, after it, and when the worker is to stop.

    def wait_for_and_dispatch_events(self, timeout: float) -> None:
        self.turn = time.monotonic()
        super().wait_for_and_dispatch_events(SWEEP if self.alive else SWEEP / 10)

    def murder_pending(self) -> None:
        """Drop clients that are late, except those that were in time before the loop was busy."""
        now = self.turn
        if self.alive and now < self.swept + SWEEP:
            return
        self.swept = now
        self.worker_connections = self.most
        for conn in [conn for conn, until in self.waiting.copy().items() if until < now]:
            if conn.incoming and not conn.sock.kept:
                self._refuse(conn, 408, "Request Timeout")
            else:
                self._drop(conn)

    def _cap_keepalive(self, _deadline: float) -> None:
        """Close idle clients soon, so that the others have the time that is left."""
        soon = time.monotonic() + STOPPED
        for conn, until in self.waiting.copy().items():
            self.waiting[conn] = min(until, soon)

    def murder_keepalived(self, force: bool = False) -> None:
        if force:
            for conn in self.waiting.copy():
                self._drop(conn)
