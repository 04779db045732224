"""A function's instructions, and their successors."""

from __future__ import annotations

import dis
from collections.abc import Iterator
from functools import cache
from types import CodeType
from typing import NamedTuple

NO_WAY_ON = {"RETURN_VALUE", "RETURN_CONST", "RAISE_VARARGS", "RERAISE"}
ALWAYS_JUMPS = ("JUMP_FORWARD", "JUMP_BACKWARD")


class Next(NamedTuple):
    at: int  # position among the instructions
    jump: bool


@cache
def instructions(code: CodeType) -> tuple[dis.Instruction, ...]:
    return tuple(dis.get_instructions(code))


@cache
def after(code: CodeType) -> tuple[tuple[Next, ...], ...]:
    """Return the successors of each instruction, except error handlers."""
    position = {instruction.offset: at for at, instruction in enumerate(instructions(code))}
    return tuple(
        tuple(_after(at, instruction, position))
        for at, instruction in enumerate(instructions(code))
    )


def _after(at: int, instruction: dis.Instruction, position: dict[int, int]) -> Iterator[Next]:
    name = instruction.opname
    if instruction.opcode in dis.hasjrel or instruction.opcode in dis.hasjabs:
        yield Next(position[instruction.argval], jump=True)
    if name not in NO_WAY_ON and not name.startswith(ALWAYS_JUMPS) and at + 1 < len(position):
        yield Next(at + 1, jump=False)


@cache
def places(code: CodeType) -> dict[int, int]:
    """Return the possible positions of a frame (f_lasti), each with the instruction's index.

    A frame that waits may be in a call's own cache, before the next instruction.
    """
    offsets = [instruction.offset for instruction in instructions(code)]
    ends = [*offsets[1:], len(code.co_code)]
    return {
        place: at
        for at, (begin, end) in enumerate(zip(offsets, ends, strict=True))
        for place in range(begin, end, 2)
    }


def stored(instruction: dis.Instruction) -> tuple[str, ...]:
    """Return the variables that it sets."""
    if instruction.opname == "STORE_FAST_LOAD_FAST":
        return variables(instruction)[:1]
    return variables(instruction) if "STORE_FAST" in instruction.opname else ()


def variables(instruction: dis.Instruction) -> tuple[str, ...]:
    """Return the variables that it sets or reads."""
    if "_FAST" not in instruction.opname:
        return ()
    what = instruction.argval
    return what if isinstance(what, tuple) else (what,)
