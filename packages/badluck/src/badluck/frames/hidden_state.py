"""Is all that a suspended frame knows to be seen?"""

from __future__ import annotations

import builtins
import inspect
from collections import ChainMap
from contextlib import contextmanager, suppress
from functools import cache
from types import CodeType, FrameType, FunctionType
from typing import Any

from redis.client import Pipeline, Redis

from badluck.frames.bytecode import instructions, places
from badluck.frames.liveness import needed
from badluck.frames.operand_stack import has_only, known_waits

MANAGER = contextmanager(iter).__code__  # what a function becomes by that, whichever it is


def is_transparent(callee: Any, bound: Any) -> bool:
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


# What is called by another name than its own.
CALLED = ("__init__", "__new__", "__call__")


def hides_nothing(frame: FrameType, inner: FrameType | None) -> bool:
    """Is all that this frame waits with, except for the operands of its call, known?

    `inner` is the frame that it waits for. If that was not called by this one itself, then by
    something in C that keeps what it likes meanwhile, as `sum` does of a generator's values.
    """
    wait = known_waits(frame.f_code).get(places(frame.f_code)[frame.f_lasti])
    return (
        wait is not None
        and (inner is None or _calls(frame, wait.called, inner.f_code))
        and all(
            is_transparent(_found(frame, made_by), frame.f_locals.get(variable))
            for made_by, variable in wait.contexts
        )
    )


def _calls(frame: FrameType, what: str, code: CodeType) -> bool:
    """Is that the code of what the frame calls?"""
    load, _, name = what.partition(" of ")[0].partition(" ")
    if load == "BEFORE_WITH":
        return code.co_name == "__exit__"
    if " of " in what and code.co_name in {name, *CALLED}:
        return True
    callee = _found(frame, what)
    if callee is next:  # it keeps nothing
        return True
    if isinstance(callee, type):
        return any(code is _code(getattr(callee, own)) for own in CALLED[:2])
    return code is (_code(callee) or _code(type(callee).__call__))


def _found(frame: FrameType, what: str) -> Any:
    """Look up the value that a frame loaded that way, or None, without running code."""
    *attributes, variable = (part.partition(" ")[2] for part in what.split(" of "))
    value = ChainMap(frame.f_locals, frame.f_globals, vars(builtins)).get(variable)
    for attribute in reversed(attributes):
        value = inspect.getattr_static(value, attribute, None)
    return value


def _code(callee: Any) -> CodeType | None:
    function = getattr(callee, "__func__", callee)
    return function.__code__ if isinstance(function, FunctionType) else None
