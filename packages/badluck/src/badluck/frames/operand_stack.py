"""Does a suspended frame keep values where none of its variables shows them?

In `f(a(), b())` the result of a() waits on the interpreter's stack while b() runs. So does the
value that a `return` inside of try/finally returns, and the position of a `for`. Two frames that
look alike may then differ. So the bytecode is walked through once, noting the stack at each
position. A value that is also in a variable, or can be looked up by name, is known; every other is
not.
"""

from __future__ import annotations

import builtins
import dis
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Set
from functools import cache
from types import CodeType
from typing import NamedTuple

from badluck.frames.bytecode import after, instructions, stored, variables

COUNTS, UNKNOWN = "counts", "unknown"
CALL = " call of "
MADE_BY = f"{UNKNOWN}{CALL}"  # that, with nothing but constants
Stack = tuple[str, ...]  # what put each value there

# Instructions that push a variable, a constant or an attribute; the last one stands for all that
# such an instruction pushes.
LOADS = (
    *("LOAD_", "PUSH_NULL", "COPY_FREE_VARS", "MAKE_CELL", "RESUME", "NOP", "CACHE"),
    *("KW_NAMES", "EXTENDED_ARG"),
)
# What makes a list or a tuple, and is always the same if it is made only of that.
MAKES = {"BUILD_LIST", "BUILD_TUPLE", "LIST_EXTEND", "LIST_APPEND", "LIST_TO_TUPLE"}
FIXED = ("LOAD_CONST", "LOAD_GLOBAL", *MAKES)
ATTRIBUTES = ("LOAD_ATTR", "LOAD_METHOD", "LOAD_SUPER")
ENTERED = "BEFORE_WITH "
COUNTERS = ("LOAD_GLOBAL range", "LOAD_GLOBAL enumerate")
ONLY_TAKE = ("STORE_", "POP_", "DELETE_", "JUMP_", "END_FOR")


class CallWait(NamedTuple):
    """The operand stack of a frame at a call."""

    below: Stack
    operands: Stack  # of the call

    @property
    def called(self) -> str:
        """The instruction that loaded the callee."""
        return _callee(*self.operands[:2])


class EnteredContext(NamedTuple):
    """A context that a `with` has entered."""

    made_by: str  # with nothing but constants
    variable: str  # the variable that has what `as` got, and never anything else; or ""


class KnownCall(NamedTuple):
    """A call at which all paths leave the same below its operands."""

    called: str
    variables: Set[str]  # where all of that came from, by any path
    contexts: frozenset[EnteredContext]  # that may keep something


@cache
def known_waits(code: CodeType) -> dict[int, KnownCall]:
    """Return the positions of calls whose stack is known, except for some operands."""
    waits_at: dict[int, set[CallWait]] = defaultdict(set)
    walk = _StackWalk(code)
    for at, stack in walk.ways():
        instruction = walk.steps[at]
        if instruction.opname.startswith("CALL"):
            below = len(stack) - _operands(instruction)
            waits_at[at].add(CallWait(stack[:below], stack[below:]))
    return {at: _all(waits) for at, waits in waits_at.items() if _known(waits)}


def has_only(code: CodeType, at: int) -> bool:
    """Does that instruction take all of the stack, on every path?"""
    return {len(stack) for place, stack in _StackWalk(code).ways() if place == at} == {1}


@cache
def known_awaits(code: CodeType) -> frozenset[int]:
    """Return the positions of awaits below which the whole stack is known."""
    stacks_at: dict[int, set[Stack]] = defaultdict(set)
    walk = _StackWalk(code)
    for at, stack in walk.ways():
        if walk.steps[at].opname == "YIELD_VALUE":
            stacks_at[at].add(stack[:-2])
    known = {
        at
        for at, (below, *others) in stacks_at.items()
        if not others and all(map(_stays_known, below))
    }
    return frozenset(known | {at + 1 for at in known})  # from Python 3.13 on it stands behind it


def _stays_known(what: str) -> bool:
    """Is it a variable of the frame, a constant, or a builtin, which no other code changes?"""
    load, _, name = what.partition(" ")
    if " of " in what:
        return False
    return load in ("LOAD_FAST", "LOAD_CONST", "PUSH_NULL") or (
        load == "LOAD_GLOBAL" and name in vars(builtins)
    )


def _all(waits: set[CallWait]) -> KnownCall:
    sources = {_source(what) for wait in waits for what in (*wait.below, *wait.operands)}
    first = next(iter(waits))  # below their operands all have the same
    contexts = frozenset(_contexts(first.below))
    variables = {name for load, name in sources if load == "LOAD_FAST"}
    return KnownCall(first.called, variables.union(each.variable for each in contexts), contexts)


def _contexts(stack: Stack) -> Iterator[EnteredContext]:
    for what in stack:
        variable, call, by = what.partition(CALL)
        if call:
            yield EnteredContext(by, variable.removeprefix(ENTERED).removeprefix("None"))


def _callee(first: str, second: str = "") -> str:
    """Return the callee: a method comes after its object, a function next to an empty place."""
    return second if second.startswith(ATTRIBUTES) or first.startswith("PUSH_NULL") else first


def _source(what: str) -> tuple[str, str]:
    """Split a value's text into the instruction that loaded it and the name."""
    load, _, name = what.rpartition(" of ")[2].partition(" ")
    return load, name


def _known(waits: set[CallWait]) -> bool:
    """Are they the same on every path, and all known?"""
    below, *others = {wait.below for wait in waits}
    callees = {wait.called for wait in waits}
    return not others and len(callees) == 1 and not any(UNKNOWN in what for what in below)


def _operands(call: dis.Instruction) -> int:
    """Return how many values a call takes from the stack; it puts its result there."""
    if call.opname == "CALL":  # the callee, an object or nothing, and the arguments
        return 2 + (call.arg or 0)
    return 1 - dis.stack_effect(call.opcode, call.arg, jump=False)


class _StackWalk:
    """A walk through one function."""

    def __init__(self, code: CodeType) -> None:
        self.code = code
        self.steps = instructions(code)
        self.stored = Counter(name for step in self.steps for name in stored(step))
        self.stored.update(code.co_varnames[: code.co_argcount + code.co_kwonlyargcount])
        self.set = {step.argval for step in self.steps if step.opname == "STORE_ATTR"}

    def ways(self) -> Iterator[tuple[int, Stack]]:
        """Yield the position of each instruction, with the stack before it, along every path."""
        todo: list[tuple[int, Stack]] = [(0, ())]
        visited: set[tuple[int, Stack]] = set()
        while todo:
            at, stack = todo.pop()
            if (at, stack) in visited:
                continue
            visited.add((at, stack))
            yield at, stack
            todo += [
                (next_step.at, self._after(at, stack, next_step.jump))
                for next_step in after(self.code)[at]
            ]

    def _after(self, at: int, stack: Stack, jump: bool) -> Stack:
        step = self.steps[at]
        effect = dis.stack_effect(step.opcode, step.arg, jump=jump)
        by_prefix = (to for prefixes, to in EFFECTS_BY_PREFIX if step.opname.startswith(prefixes))
        change = EFFECTS.get(step.opname) or next(by_prefix, _operate)
        return change(self, at, stack, effect)

    def text(self, at: int) -> str:
        return f"{self.steps[at].opname} {self.steps[at].argval}"

    def result(self, call: Stack) -> str:
        callee, given = _callee(*call[:2]), call[2:]
        if callee in COUNTERS and all(map(self._stays, given)):
            return COUNTS  # a range or an enumerate, of what stays the same meanwhile
        constant = all(self._stays(what) and _source(what)[0] in FIXED for what in given)
        return f"{MADE_BY}{callee}" if constant and UNKNOWN not in callee else UNKNOWN

    def bound(self, at: int) -> str | None:
        """Return the variable that this instruction sets, if no other does."""
        step = self.steps[at]
        once = step.opname == "STORE_FAST" and self.stored[step.argval] == 1
        return step.argval if once else None

    def _stays(self, what: str) -> bool:
        """Is it a constant, or the attribute of a variable, that is set in no other place?"""
        load, name = _source(what)
        parts = (part.partition(" ")[2] for part in what.split(" of "))
        if UNKNOWN in what or not self.set.isdisjoint(parts):
            return False
        return load in FIXED or (load == "LOAD_FAST" and self.stored[name] <= 1)

    def shows(self, at: int) -> bool:
        """Does the loop's variable show its position, and does no other instruction set it?"""
        following = (name for step in self.steps[at:] for name in stored(step))
        return self.stored[next(following, "")] == 1


def _make(walk: _StackWalk, at: int, stack: Stack, effect: int) -> Stack:
    below = len(stack) + effect - 1
    return (*stack[:below], walk.text(at) if _fixed(stack[below:]) else UNKNOWN)


def _call(walk: _StackWalk, at: int, stack: Stack, _: int) -> Stack:
    below = len(stack) - _operands(walk.steps[at])
    return (*stack[:below], walk.result(stack[below:]))


def _load_attribute(walk: _StackWalk, at: int, stack: Stack, effect: int) -> Stack:
    of = f"{walk.text(at)} of {stack[-1]}"
    return (*stack, *([of] * effect)) if effect else (*stack[:-1], of)


def _begin_loop(walk: _StackWalk, at: int, stack: Stack, _: int) -> Stack:
    known = stack[-1] == COUNTS and walk.shows(at)
    return (*stack[:-1], walk.text(at) if known else UNKNOWN)


def _swap(walk: _StackWalk, at: int, stack: Stack, _: int) -> Stack:
    above = stack[len(stack) - walk.steps[at].argval + 1 :]
    return (*stack[: -len(above) - 1], above[-1], *above[:-1], stack[-len(above) - 1])


def _calculate(_: _StackWalk, __: int, stack: Stack, ___: int) -> Stack:
    """With a constant operand, the result shows what the other operand does."""
    *others, left, right = stack
    known = right.startswith("LOAD_CONST") and UNKNOWN not in left
    return (*others, left if known else UNKNOWN)


def _take(walk: _StackWalk, at: int, stack: Stack, effect: int) -> Stack:
    return _without(stack[: len(stack) + min(0, effect)], stored(walk.steps[at]))


def _store_and_load(walk: _StackWalk, at: int, stack: Stack, _: int) -> Stack:
    return (*_take(walk, at, stack, -1), f"LOAD_FAST {variables(walk.steps[at])[1]}")


def _operate(_: _StackWalk, __: int, stack: Stack, effect: int) -> Stack:
    """Count the last operand as replaced by an unknown result."""
    below = stack[: len(stack) + min(0, effect)]
    return (*below[:-1], UNKNOWN, *([UNKNOWN] * max(0, effect)))


Effect = Callable[[_StackWalk, int, Stack, int], Stack]
EFFECTS: dict[str, Effect] = {
    # A `with`: the context's way out, and what `as` gets.
    "BEFORE_WITH": lambda walk, at, stack, _: (
        *stack[:-1],
        _way_out(stack[-1], walk.bound(at + 1)),
        UNKNOWN,
    ),
    # Once more, with another value; or the loop is over.
    "FOR_ITER": lambda _, __, stack, effect: (*stack, UNKNOWN) if effect > 0 else stack[:-1],
    "GET_ITER": _begin_loop,
    "SWAP": _swap,
    "COPY": lambda walk, at, stack, _: (*stack, stack[-walk.steps[at].argval]),
    "BINARY_OP": _calculate,
    "STORE_FAST_LOAD_FAST": _store_and_load,
    "RETURN_GENERATOR": lambda *_: (UNKNOWN,),  # it gets a first value, and drops it
    "PRECALL": lambda _, __, stack, ___: stack,
    **dict.fromkeys(MAKES, _make),
}
EFFECTS_BY_PREFIX: tuple[tuple[str | tuple[str, ...], Effect], ...] = (  # the first that fits
    ("CALL", _call),
    (ATTRIBUTES, _load_attribute),
    # Some instructions load two variables.
    ("LOAD_FAST", lambda w, at, stack, _: (*stack, *_loads(variables(w.steps[at])))),
    (LOADS, lambda walk, at, stack, effect: (*stack, *([walk.text(at)] * effect))),
    (ONLY_TAKE, _take),
)


def _loads(names: Iterable[str]) -> Iterator[str]:
    return (f"LOAD_FAST {name}" for name in names)


def _way_out(context: str, bound: str | None) -> str:
    """A context that no variable has may keep any value, as a generator does."""
    if UNKNOWN not in context:
        return f"{ENTERED}None of {context}"
    return f"{ENTERED}{bound}{context[len(UNKNOWN) :]}" if context.startswith(MADE_BY) else UNKNOWN


def _without(stack: Stack, variables: Iterable[str]) -> Stack:
    """Forget values that were loaded from a variable that is set now."""
    gone = {("LOAD_FAST", variable) for variable in variables}
    return tuple(UNKNOWN if _source(value) in gone else value for value in stack)


def _fixed(values: Stack) -> bool:
    return all(value.startswith(FIXED) for value in values)
