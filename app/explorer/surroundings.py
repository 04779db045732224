"""What a process has of its own, below the shop's modes: they share one here.

A mode takes its chance from its clock; a lock's connections ask the system.
"""

from __future__ import annotations

from contextlib import AbstractContextManager

from badluck.actor.fiber import here
from badluck.actor.shared_process import NeverIdle, OfAFiber, sharing

from app.locks.queue import connections
from app.locks.queue.line import Line
from app.store import redis as store


def _process(_: Line) -> str:
    return f"process-{here().actor.name}"


def of_their_own() -> AbstractContextManager[None]:
    return sharing(
        (connections, "_thread", OfAFiber()),
        (connections, "time", NeverIdle),
        (store, "time", NeverIdle),
        (Line, "process", _process),
    )
