"""How tests stand in line: in a thread that waits, or frozen."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor

from app import Parts
from app.domain import Clock
from app.locks.queue.connections import connections
from app.locks.queue.line import Grant, Line
from app.locks.queue.scripts import ACQUIRE
from tests.servers import until

NAME = "{apple}:1:lock"
FROZEN = "{apple}:1:frozen"  # leads to other connections than the lock's own name
LINE, FENCE = "{apple}:1:lock:line", "{apple}:1:lock:fence"


def line(parts: Parts, lease: float | None = 10.0) -> Line:
    return Line(parts.store, Clock(), NAME, lease)


def stand(
    parts: Parts,
    pool: ThreadPoolExecutor,
    token: str,
    timeout: float | None = 10,
    reads: Sequence[str] = (),
) -> Future[Grant | None]:
    """Stand in line in a thread of its own; returns when it stands there."""
    before = parts.store.llen(LINE)
    future = pool.submit(lambda: line(parts).acquire(token, True, timeout, reads))
    until(lambda: parts.store.llen(LINE) > before)
    return future


def stand_frozen(parts: Parts, token: str) -> Line:
    """Stand in line like a process that was stopped then: its connection is open, it is deaf."""
    frozen = line(parts)
    mine = connections(frozen.client, FROZEN)
    mine.listen()
    place = frozen._place(mine, token, ())
    assert mine.call(ACQUIRE, frozen.keys, [token, 10_000, place, "", 1])[0] == 0
    return frozen
