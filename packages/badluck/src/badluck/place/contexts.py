"""Does a context that only the interpreter's stack has keep anything?

In `with answering():` it is a suspended generator that no variable shows. It may keep what it
likes, but most keep nothing: no variable is read after its `yield`, and nothing waits on its stack.
"""

from __future__ import annotations

from contextlib import contextmanager, suppress
from functools import cache
from types import CodeType, FunctionType
from typing import Any

from redis.client import Pipeline, Redis

from badluck.place.bytecode import instructions
from badluck.place.liveness import needed
from badluck.place.stack import has_only

MANAGER = contextmanager(iter).__code__  # what a function becomes by that, whichever it is


def keeps_nothing(callee: Any, bound: Any) -> bool:
    """A context that this has made, given nothing but constants, and that gave `bound` to `as`."""
    if callee is suppress:  # it keeps what it was given
        return True
    if callee is Redis.pipeline:  # it is what it gives
        return isinstance(bound, Pipeline)
    inner = getattr(callee, "__wrapped__", None)
    return (
        getattr(callee, "__code__", None) is MANAGER
        and isinstance(inner, FunctionType)
        and _forgets(inner.__code__)
    )


@cache
def _forgets(code: CodeType) -> bool:
    """A generator that waits in its `yield`."""
    steps = instructions(code)
    yields = [at for at, step in enumerate(steps) if step.opname == "YIELD_VALUE"]
    return len(yields) == 1 and has_only(code, yields[0]) and not needed(code)[yields[0]]
