"""Live variables: those that a suspended frame will read again.

A value that is not read any more decides nothing: two states that differ only by such values are
one. (In compilers: live variables, by going through the code backwards until nothing changes.)
"""

from __future__ import annotations

from functools import cache
from types import CodeType, FrameType
from typing import Any

from badluck.frames.bytecode import after, instructions, places, stored, variables
from badluck.frames.operand_stack import known_waits

# A function that calls one of these may read a variable by its name.
BY_NAME = {"locals", "vars", "dir", "eval", "exec", "_getframe", "currentframe"}
# The variables of a loop over one of these show how far it is, even if they are not read.
COUNTERS = {"range", "enumerate"}
PLAIN = (type(None), bool, int, float, str, bytes)  # letting go of them does nothing


def read_later(frame: FrameType) -> dict[str, Any]:
    """Return its live variables; a call's operands are in use, though no code reads them.

    An object stays: when it goes, it may close a connection.
    """
    code = frame.f_code
    at = places(code)[frame.f_lasti]
    wait = known_waits(code).get(at)
    later = needed(code)[at].union(wait.variables if wait else ())
    return {
        name: value for name, value in frame.f_locals.items() if name in later or not _plain(value)
    }


def _plain(value: Any) -> bool:
    kind = type(value)
    return kind in PLAIN or (kind in (list, tuple) and all(map(_plain, value)))


@cache
def needed(code: CodeType) -> tuple[frozenset[str], ...]:
    """Return the variables that are needed after each instruction."""
    own = frozenset(code.co_varnames) - frozenset(code.co_cellvars)
    others = frozenset((*code.co_cellvars, *code.co_freevars))  # read by functions in it
    steps, successors = instructions(code), after(code)
    if (BY_NAME | COUNTERS) & {*code.co_names}:
        return tuple(own | others for _ in steps)
    before: list[frozenset[str]] = [frozenset()] * len(steps)
    handlers = [at for at, step in enumerate(steps) if step.opname == "PUSH_EXC_INFO"]
    changed = True
    while changed:
        changed = False
        on_error = frozenset[str]().union(*(before[at] for at in handlers))
        later = [
            on_error.union(*(before[next_step.at] for next_step in live)) for live in successors
        ]
        for at, step in enumerate(steps):
            sets = stored(step)  # before it loads another, if it does both
            live = later[at].union(own.intersection(variables(step)).difference(sets))
            live -= {step.argval} if step.opname == "DELETE_FAST" else {*sets}
            changed = changed or live != before[at]
            before[at] = live
    return tuple(live | others for live in later)
