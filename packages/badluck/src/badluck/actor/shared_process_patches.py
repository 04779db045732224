"""Replacements for identical actors that share a process: unique names,
has, what belongs to a thread, and how long a connection has lain idle.

Library code asks the system, and would get another answer at every run. Code that is alike takes
the time that decides something from its actor's clock; what is left is how long a connection has
lain idle. In the model no server hangs up on the idle, so to them no time passes.
"""

from __future__ import annotations

import gc
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager

from badluck.actor import threads
from badluck.actor.actor import here
from badluck.actor.patching import in_fiber, replaced


def _uuid(*_: object) -> uuid.UUID:
    actor = here().actor
    actor.tokens += 1
    return uuid.UUID(int=(ord(actor.name[0]) << 64) + actor.tokens)


@contextmanager
def sharing() -> Iterator[None]:
    """Outside of an actor's code all of it is the system's, except locals that begin meanwhile."""
    uuids = ((uuid, name, in_fiber(uuid.uuid4, _uuid)) for name in ("uuid4", "uuid1"))
    clock = (time, "monotonic", in_fiber(time.monotonic, lambda: 0.0))
    with replaced(*uuids, clock, (threading, "local", threads.FiberLocal)), _no_collection():
        yield


@contextmanager
def _no_collection() -> Iterator[None]:
    """A graph is all tuples, and none of them garbage: to look for some takes a third of the time.

    What actors leave behind is collected afterwards. Meanwhile it takes a quarter more memory.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.freeze()  # all that has been made is old now: else the next collection goes through
            gc.unfreeze()  # it as if it were new
            gc.enable()
