"""Can all that a suspended frame knows be seen?"""

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

MANAGER = contextmanager(iter).__code__  # of all functions that @contextmanager wraps


def is_transparent(callee: Any, bound: Any) -> bool:
    """Does a context of `callee`, made from constants, hide nothing? `as` got `bound`."""
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
    """Is it a generator that waits in its `yield`?"""
    steps = instructions(code)
    yields = [at for at, step in enumerate(steps) if step.opname == "YIELD_VALUE"]
    return len(yields) == 1 and has_only(code, yields[0]) and not needed(code)[yields[0]]


# What is called by another name than its own.
CALLED = ("__init__", "__new__", "__call__")


def hides_nothing(frame: FrameType, inner: FrameType | None) -> bool:
    """Is everything that this frame waits with known, except the operands of its call?

    `inner` is the frame that it waits for. If this frame has not called it directly, then a C
    function has, which may keep any value meanwhile, as `sum` does with a generator's.
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
    """Does the frame call that code?"""
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
