"""The store without any HTTP: sales a second by so many connections that do nothing else.

    python -m loadtest.throughput.raw CONNECTIONS SECONDS     prints {"good", "seconds"}

Each connection sends the usual shop's script, encoded once, and the next one as soon as that is
answered. A Python process sends some ten thousand of them a second, so for many connections this is
the speed of the client, not of the store. No shop here needs more than that.
"""

from __future__ import annotations

import json
import selectors
import socket
import sys
import time

import hiredis

from loadtest.throughput.usual import SELL, store

STOCK = 1_000_000_000


def measure(connections: int, seconds: float) -> dict[str, float]:
    """Sell from a stock of its own in USUAL_STORE; return the counts."""
    given = store.connection_pool.connection_kwargs
    store.set("usual:raw:stock", STOCK)
    sha = store.script_load(SELL)
    keys = ("usual:raw:stock", "usual:raw:sales")
    sale = hiredis.pack_command(("EVALSHA", sha, "2", *keys, "0" * 36, "1"))  # type: ignore[arg-type]  # its stub: one word
    waiting = selectors.DefaultSelector()
    for _ in range(connections):
        connection = socket.create_connection(("127.0.0.1", given["port"]))
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection.sendall(hiredis.pack_command(("AUTH", given["password"])))  # type: ignore[arg-type]  # its stub: one word
        connection.recv(64)
        waiting.register(connection, selectors.EVENT_READ, connection)
        connection.sendall(sale)
    good, start = 0, time.perf_counter()
    while (now := time.perf_counter()) < start + seconds:
        for key, _ in waiting.select(1):
            if not key.data.recv(64).startswith(b":"):
                raise SystemExit("The store refuses a sale.")
            good += 1
            key.data.sendall(sale)
    return {"good": good, "seconds": now - start}


if __name__ == "__main__":
    print(json.dumps(measure(int(sys.argv[1]), float(sys.argv[2]))))
