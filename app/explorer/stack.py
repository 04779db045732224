"""Does a suspended frame keep values where none of its variables shows them?

In `f(a(), b())` the result of a() waits on the interpreter's stack while b() runs; so does what a
`return` inside of try/finally returns. Two frames that look alike may then differ. Here the
bytecode is gone through once, and of each place is noted what lies on its stack: what anybody can
see in a variable or look up by name is known, everything else is not.
"""

from __future__ import annotations

import dis
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from types import CodeType, FrameType

RANGE, UNKNOWN = "range", "unknown"
Stack = tuple[str, ...]  # what put each value there

# What puts a variable, a constant or somebody's attribute there; the last of what it puts there
# stands for all of it.
LOADS = (
    *("LOAD_", "PUSH_NULL", "COPY_FREE_VARS", "MAKE_CELL", "RESUME", "NOP", "CACHE"),
    *("KW_NAMES", "EXTENDED_ARG"),
)
# What makes a list or a tuple, and what is always the same if it is made of nothing but that.
MAKES = {"BUILD_LIST", "BUILD_TUPLE", "LIST_EXTEND", "LIST_APPEND", "LIST_TO_TUPLE"}
FIXED = ("LOAD_CONST", "LOAD_GLOBAL", *MAKES)
ATTRIBUTES = ("LOAD_ATTR", "LOAD_METHOD", "LOAD_SUPER")
ONLY_TAKE = ("STORE_", "POP_", "DELETE_", "JUMP_")
NO_WAY_ON = {"RETURN_VALUE", "RETURN_CONST", "RAISE_VARARGS", "RERAISE"}
ALWAYS_JUMPS = ("JUMP_FORWARD", "JUMP_BACKWARD")


def keeps_nothing_unseen(frame: FrameType) -> bool:
    """Is all that this frame waits with, but for the operands of its call, known?"""
    return frame.f_lasti in _seen_through(frame.f_code)


@cache
def _seen_through(code: CodeType) -> frozenset[int]:
    """The places of its calls at which all below the operands is known."""
    calls: dict[int, set[Stack]] = defaultdict(set)
    for instruction, stack in _walk(code):
        if instruction.opname.startswith("CALL"):
            calls[instruction.offset].add(stack[: len(stack) - _operands(instruction)])
    # A frame that waits may stand behind the call's own cache, before the next instruction.
    offsets = [instruction.offset for instruction in dis.get_instructions(code)]
    ends = dict(zip(offsets, [*offsets[1:], len(code.co_code)], strict=True))
    return frozenset(
        place
        for offset, kept in calls.items()
        if _known(kept)
        for place in range(offset, ends[offset], 2)
    )


def _known(kept: set[Stack]) -> bool:
    """The same, whatever way led there, and all of it known."""
    return len(kept) == 1 and all(UNKNOWN not in stack for stack in kept)


def _operands(instruction: dis.Instruction) -> int:
    """How much a call takes from the stack; it puts its result there."""
    return 1 - dis.stack_effect(instruction.opcode, instruction.arg, jump=False)


def _walk(code: CodeType) -> Iterator[tuple[dis.Instruction, Stack]]:
    """Each instruction, with the stack before it, along every way that is not an error's."""
    instructions = list(dis.get_instructions(code))
    position = {instruction.offset: at for at, instruction in enumerate(instructions)}
    todo: list[tuple[int, Stack]] = [(0, ())]
    seen: set[tuple[int, Stack]] = set()
    while todo:
        at, stack = todo.pop()
        if (at, stack) in seen or at >= len(instructions):
            continue
        seen.add((at, stack))
        instruction = instructions[at]
        yield instruction, stack
        name = instruction.opname
        if instruction.opcode in dis.hasjrel or instruction.opcode in dis.hasjabs:
            todo.append((position[instruction.argval], _after(instruction, stack, jump=True)))
        if name not in NO_WAY_ON and not name.startswith(ALWAYS_JUMPS):
            todo.append((at + 1, _after(instruction, stack, jump=False)))


def _after(instruction: dis.Instruction, stack: Stack, jump: bool) -> Stack:
    name, what = instruction.opname, f"{instruction.opname} {instruction.argval}"
    effect = dis.stack_effect(instruction.opcode, instruction.arg, jump=jump)
    if name == "BEFORE_WITH":  # the context's way out, and what `as` gets
        return (*stack[:-1], what, UNKNOWN)
    if name == "FOR_ITER":  # once more, with another value; or the loop is over
        return stack[:-1] if jump else (*stack, UNKNOWN)
    if name in MAKES:
        below = len(stack) + effect - 1
        return (*stack[:below], what if _fixed(stack[below:]) else UNKNOWN)
    if name == "GET_ITER":  # how far it is in a range, the loop's variable shows
        return (*stack[:-1], what if stack[-1] == RANGE else UNKNOWN)
    if name.startswith("CALL"):
        below = len(stack) - _operands(instruction)
        return (*stack[:below], RANGE if _counts(stack[below:]) else UNKNOWN)
    if what == "LOAD_GLOBAL range":
        return (*stack, *([RANGE] * effect))
    if name.startswith(LOADS) and effect >= 0:
        of = UNKNOWN if name.startswith(ATTRIBUTES) and UNKNOWN in stack[-1:] else what
        return (*stack, *([of] * effect))
    kept = stack[: len(stack) + min(0, effect)]
    if name == "PRECALL":  # takes the arguments; what is called remembers whether they are fixed
        return kept if _fixed(stack[len(kept) :]) else (*kept[:-1], UNKNOWN)
    if name.startswith(ONLY_TAKE):
        return kept
    # It may have put a result in the place of its last operand.
    return (*kept[:-1], UNKNOWN, *([UNKNOWN] * max(0, effect)))


def _counts(call: Stack) -> bool:
    """Is it a range, or an enumerate of what is always the same?"""
    return RANGE in call or ("LOAD_GLOBAL enumerate" in call and _fixed(call))


def _fixed(values: Stack) -> bool:
    return all(value.startswith(FIXED) for value in values)
