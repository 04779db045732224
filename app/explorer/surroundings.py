"""What a process has of its own, for buyers that share one: names that nobody else has, and what
belongs to a thread.

A mode takes its chance from its clock. What lies below it (a lock's connections, redis-py's Lock)
asks the system, and would get another answer at every run. How long a connection has lain idle is
asked of the system, too, and kept: places of the code would never be equal. In the model no server
hangs up on the idle, so to them no time passes.
"""

from __future__ import annotations

import gc
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

from fairlock import connections
from fairlock.queue import WaitQueue
from greenlet import getcurrent

from app.explorer.strand import Strand, here
from app.store import redis as store

YOUNG = 100_000  # objects, before the interpreter looks whether some of them are garbage
_uuid4, _uuid1 = uuid.uuid4, uuid.uuid1


class OfAStrand:
    """As threading.local, but for strands: to a buyer's code each of them is a thread."""

    def __getattr__(self, name: str) -> Any:
        return getattr(getcurrent(), f"_{name}")

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(getcurrent(), f"_{name}", value)


def _a_uuid(*_: Any) -> uuid.UUID:
    here = getcurrent()
    if not isinstance(here, Strand):
        return _uuid4()
    here.buyer.tokens += 1
    return uuid.UUID(int=(ord(here.buyer.name[0]) << 64) + here.buyer.tokens)


def _process(_: WaitQueue) -> str:
    return f"process-{here().buyer.name}"


class NeverIdle:
    """In place of the module `time`, to what asks how long a connection has lain idle."""

    @staticmethod
    def monotonic() -> float:
        return 0.0


@contextmanager
def of_their_own() -> Iterator[None]:
    with (
        mock.patch.object(uuid, "uuid4", _a_uuid),
        mock.patch.object(uuid, "uuid1", _a_uuid),
        mock.patch.object(connections, "_thread", OfAStrand()),
        mock.patch.object(connections, "time", NeverIdle),
        mock.patch.object(store, "time", NeverIdle),
        mock.patch.object(WaitQueue, "process", _process),
        _few_collections(),
    ):
        yield


@contextmanager
def _few_collections() -> Iterator[None]:
    """A graph is all tuples, and none of them garbage: to look for some takes a third of the time.

    What buyers leave behind is collected all the same, only later.
    """
    usual = gc.get_threshold()
    gc.set_threshold(YOUNG, usual[1], usual[2])
    try:
        yield
    finally:
        gc.set_threshold(*usual)
