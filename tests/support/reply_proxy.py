"""A proxy in front of a store: it passes commands on, and loses or delays the replies."""

from __future__ import annotations

import select
import socket
import threading
import time
from collections.abc import Sequence
from itertools import cycle

from servers.valkey import Valkey


class LosesReplies:
    """A proxy between client and store. When armed, it lets a command through and cuts the answer.

    The command is a sale, or whatever `what` says. `meanwhile` is called when the store has acted.
    """

    what: tuple[bytes, ...] = (b"EVALSHA", b"EXEC")

    def meanwhile(self) -> bool:
        """Is the answer lost?"""
        return True

    def __init__(self, store: Valkey) -> None:
        self.store = store
        self.lose_next = False
        self.lost = 0
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.url = f"redis://127.0.0.1:{self.port}/0"
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self._carry, args=(client,), daemon=True).start()

    def _carry(self, client: socket.socket) -> None:
        losing = False
        with client, socket.create_connection(("127.0.0.1", self.store.port)) as server:
            while True:
                ready, _, _ = select.select([client, server], [], [])
                if client in ready:
                    request = client.recv(65536)
                    if self.lose_next and any(name in request for name in self.what):
                        self.lose_next, losing = False, True
                        self.lost += 1
                    if not request:
                        return
                    server.sendall(request)
                if server in ready:
                    reply = server.recv(65536)
                    if not reply or (losing and self.meanwhile()):
                        return
                    losing = False
                    client.sendall(reply)

    def close(self) -> None:
        self.listener.close()


class DelaysReplies(LosesReplies):
    """Delays the answers to sales, each by the next of `delays_s`, in turn."""

    def __init__(self, store: Valkey, delays_s: Sequence[float]) -> None:
        self.delays_s = cycle(delays_s)
        super().__init__(store)

    def _carry(self, client: socket.socket) -> None:
        selling = False
        with client, socket.create_connection(("127.0.0.1", self.store.port)) as server:
            while True:
                ready, _, _ = select.select([client, server], [], [])
                for source, sink in ((client, server), (server, client)):
                    if source not in ready:
                        continue
                    data = source.recv(65536)
                    if not data:
                        return
                    if source is client:
                        selling = any(name in data for name in self.what)
                    elif selling:
                        time.sleep(next(self.delays_s))
                    sink.sendall(data)
