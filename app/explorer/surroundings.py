"""What a process has of its own, below the shop's modes: they share one here.

A mode takes its chance from its clock; a lock's connections ask the system.
"""

from __future__ import annotations

from contextlib import AbstractContextManager

from badluck.actor.fiber import here
from badluck.actor.shared_process import NeverIdle, OfAFiber, sharing
from fairlock import connections
from fairlock.queue import WaitQueue

from app.store import redis as store


def _process(_: WaitQueue) -> str:
    return f"process-{here().actor.name}"


def of_their_own() -> AbstractContextManager[None]:
    return sharing(
        (connections, "_thread", OfAFiber()),
        (connections, "time", NeverIdle),
        (store, "time", NeverIdle),
        (WaitQueue, "process", _process),
    )
