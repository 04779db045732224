"""The position of an actor's code, and its variables there: the lines that wait for an answer.

For people who read the source. Whether two positions are equal is decided elsewhere
(fingerprint.py), by more than lines.
"""

from __future__ import annotations

from types import FrameType
from typing import NamedTuple

from greenlet import greenlet

from badluck.actor.actor import Code, Fiber, Files

Plain = bytes | str | int | float  # types of variables that a person can read at a glance


class SourceLine(NamedTuple):
    """A line of a module; the first line is 1."""

    module: str  # its name; of a user's code its path
    line: int


def source_lines(fiber: Fiber, code: Code) -> tuple[SourceLine, ...]:
    """Return the line where the work begins, then the innermost line if it is in another file.

    For a user's code, only the innermost line. For a thread that is in none of that code, the line
    where it was started. Nothing for work that has not begun or has ended.
    """
    return _in_modules(fiber, code.shown) if code.shown else _in_own_files(fiber, code.files)


def _in_own_files(fiber: Fiber, files: Files) -> tuple[SourceLine, ...]:
    if frame := files.innermost(fiber.frame):
        return (SourceLine(frame.f_code.co_filename, frame.f_lineno),)
    started = None if fiber.dead else fiber.started
    return (SourceLine(*started),) if started and files.own(started[0]) else ()


def _in_modules(fiber: greenlet, shown: tuple[str, ...]) -> tuple[SourceLine, ...]:
    """`shown` are prefixes of module names, the work's first."""
    spots: list[SourceLine] = []  # the innermost first
    frame: FrameType | None = fiber.gr_frame
    while frame is not None:
        module = frame.f_globals.get("__name__", "")
        if module.startswith(shown):
            spots.append(SourceLine(module, frame.f_lineno))
        frame = frame.f_back
    if not spots:
        return ()
    inner = spots[0]
    # The work's own line is the one nearest to where it left its file.
    own = next((spot for spot in spots if spot.module.startswith(shown[0])), inner)
    return (own,) if own.module == inner.module else (own, inner)


def working_frame(fiber: Fiber, code: Code) -> FrameType | None:
    """Return the suspended function of the work's own modules; None before its start and at its
    end.
    """
    if not code.shown:
        return code.files.innermost(fiber.frame)
    frame: FrameType | None = fiber.gr_frame
    while frame and not frame.f_globals.get("__name__", "").startswith(code.shown[0]):
        frame = frame.f_back
    return frame


def plain_variables(frame: FrameType) -> dict[str, Plain]:
    """Return its variables that are texts or numbers, in the order in which they were set."""
    plain = (bytes, str, int, float)
    return {name: value for name, value in frame.f_locals.items() if type(value) in plain}
