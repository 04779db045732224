"""One process of a crowd that wants one lock: `python -m tests.crowd`, see test_crowd.py.

Reads [settings, threads, lease in s] as JSON from stdin; runs until stdin is closed. Each thread
counts one up under the lock and writes down which number it read: a number written twice means
that two were inside.
"""

from __future__ import annotations

import json
import sys
import threading

from app.config import Settings
from app.domain import Clock
from app.locks.queue import Queue
from app.store.servers import Servers

KEY, NUMBER, LOG = "{apple}:1:lock", "{apple}:number", "{apple}:log"


def contend(servers: Servers, lease: float, stop: threading.Event) -> None:
    while not stop.is_set():
        lock = Queue(servers, Clock(), KEY, lease)
        if not lock.acquire(timeout=30):
            continue
        number = int(servers.store.get(NUMBER) or 0)
        with servers.store.pipeline() as pipe:
            pipe.set(NUMBER, number + 1)
            pipe.xadd(LOG, {"number": number})
            pipe.execute()
        lock.release()


def main() -> None:
    settings, threads, lease = json.loads(sys.stdin.readline())
    servers = Servers(Settings(**settings))
    stop = threading.Event()
    crowd = [threading.Thread(target=contend, args=(servers, lease, stop)) for _ in range(threads)]
    for thread in crowd:
        thread.start()
    sys.stdin.read()
    stop.set()
    for thread in crowd:
        thread.join()


if __name__ == "__main__":
    main()
