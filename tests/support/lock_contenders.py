"""One process of a crowd that wants one lock (see forked_process.Forked and test_crowd.py).

Each thread counts one up under the lock and writes down the number that it read: a number written
twice means that two were inside. The process ends on a message.
"""

from __future__ import annotations

import threading
from multiprocessing.connection import Connection

from app.config import Settings
from app.locks.queue import Queue
from app.store.servers import Servers

KEY, NUMBER, LOG = "{apple}:1:lock", "{apple}:number", "{apple}:log"


def crowd(pipe: Connection, settings: Settings, threads: int, lease: float) -> None:
    """`lease` in s."""
    servers = Servers(settings)
    stop = threading.Event()
    members = [
        threading.Thread(target=contend, args=(servers, lease, stop)) for _ in range(threads)
    ]
    for thread in members:
        thread.start()
    pipe.recv()
    stop.set()
    for thread in members:
        thread.join()


def contend(servers: Servers, lease: float, stop: threading.Event) -> None:
    while not stop.is_set():
        lock = Queue(servers.store, KEY, lease)
        if not lock.acquire(wait_s=30):
            continue
        number = int(servers.store.get(NUMBER) or 0)
        with servers.store.pipeline() as pipe:
            pipe.set(NUMBER, number + 1)
            pipe.xadd(LOG, {"number": number})
            pipe.execute()
        lock.release()
