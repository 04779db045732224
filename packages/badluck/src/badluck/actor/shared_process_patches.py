"""Replacements for identical actors that share a process: unique names, thread-local state, and how
long a connection has been idle.

Library code asks the system, and would get another answer in every run. Where time decides
something, code of identical actors uses its actor's clock, except for a connection's idle time. In
the model no server closes idle connections, so no time passes for them.
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
    """Replace them for actors; other code uses the system's own, except for new thread-locals."""
    uuids = ((uuid, name, in_fiber(uuid.uuid4, _uuid)) for name in ("uuid4", "uuid1"))
    clock = (time, "monotonic", in_fiber(time.monotonic, lambda: 0.0))
    with replaced(*uuids, clock, (threading, "local", threads.FiberLocal)), _no_collection():
        yield


@contextmanager
def _no_collection() -> Iterator[None]:
    """Pause the garbage collector: a graph is all tuples and no garbage, and a search of it costs a
    third.

    What actors leave behind is collected afterwards. Meanwhile it takes a quarter more memory.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.freeze()  # all objects count as old from now on:
            gc.unfreeze()  # otherwise the next collection would visit them as new
            gc.enable()
