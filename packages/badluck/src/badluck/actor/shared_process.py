"""What a process has of its own, for actors that share one and are alike: names that nobody else
has, and what belongs to a thread.

Library code asks the system, and would get another answer at every run. How long a connection has
lain idle is asked of the system, too, and kept: places of the code would never be equal. In the
model no server hangs up on the idle, so to them no time passes.
"""

from __future__ import annotations

import gc
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from greenlet import getcurrent

from badluck.actor.fiber import Fiber
from badluck.actor.replaced import Replacement, replaced

YOUNG = 100_000  # objects, before the interpreter looks whether some of them are garbage
_uuid4, _uuid1 = uuid.uuid4, uuid.uuid1


class OfAFiber:
    """As threading.local, but for fibers: to an actor's code each of them is a thread."""

    def __getattr__(self, name: str) -> Any:
        return getattr(getcurrent(), f"_{name}")

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(getcurrent(), f"_{name}", value)


def _a_uuid(*_: Any) -> uuid.UUID:
    here = getcurrent()
    if not isinstance(here, Fiber):
        return _uuid4()
    here.actor.tokens += 1
    return uuid.UUID(int=(ord(here.actor.name[0]) << 64) + here.actor.tokens)


class NeverIdle:
    """In place of the module `time`, to what asks how long a connection has lain idle."""

    @staticmethod
    def monotonic() -> float:
        return 0.0


@contextmanager
def sharing(*replacements: Replacement) -> Iterator[None]:
    """UUIDs, and whatever else the code that is explored needs."""
    uuids = ((uuid, name, _a_uuid) for name in ("uuid4", "uuid1"))
    with replaced(*uuids, *replacements), _few_collections():
        yield


@contextmanager
def _few_collections() -> Iterator[None]:
    """A graph is all tuples, and none of them garbage: to look for some takes a third of the time.

    What actors leave behind is collected all the same, only later.
    """
    usual = gc.get_threshold()
    gc.set_threshold(YOUNG, usual[1], usual[2])
    try:
        yield
    finally:
        gc.set_threshold(*usual)
