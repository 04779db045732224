"""Errors in somebody's own code, in words: the file, the line, what it had been answered."""

from __future__ import annotations

import linecache
import traceback
from collections.abc import Iterable
from pathlib import Path
from types import FrameType

import redis
from redis.exceptions import LockError

from badluck.actor.actor import Actor
from badluck.actor.request import Send

# What redis-py raises where nothing is wrong with the code: its actor is told that it went wrong.
EXPECTED = (redis.ConnectionError, redis.TimeoutError, redis.WatchError, LockError)


class Wrong(BaseException):
    """Ends the search; no `except Exception` of the code in question catches it."""


def raised(error: BaseException, path: Path, actor: Actor) -> Wrong:
    """For an exception that came out of the code."""
    if isinstance(error, MemoryError):
        text = "takes more memory than it may have"
    else:
        text = f"{type(error).__name__}: {error}".rstrip(": ")
    if isinstance(error, SyntaxError) and error.filename == str(path):
        return Wrong(at(path, error.lineno or 1, "", f"{type(error).__name__}: {error.msg}"))
    found = traceback.walk_tb(error.__traceback__)
    places = [(line, frame.f_code.co_name) for frame, line in found if _in(frame, path)]
    line, name = places[-1] if places else (1, "")
    return Wrong(at(path, line, name, text) + _heard(actor))


def standing(frame: FrameType | None, path: Path, text: str) -> str:
    """For code that has not come to its end: `frame` is the innermost."""
    frames = list(_outward(frame))
    for frame in frames:
        if _in(frame, path):
            return at(path, frame.f_lineno, frame.f_code.co_name, text)
    return f"{path.name}: {text}"


def at(path: Path, line: int, name: str, text: str) -> str:
    """`take.py, line 3, in run: …`, and that line below."""
    where = f"{path.name}, line {line}"
    if name and name != "<module>":
        where += f", in {name}"
    source = linecache.getline(str(path), line).strip()
    return f"{where}: {text}" + (f"\n    {source:.100}" if source else "")


def _in(frame: FrameType, path: Path) -> bool:
    return frame.f_code.co_filename == str(path)


def _outward(frame: FrameType | None) -> Iterable[FrameType]:
    while frame is not None:
        yield frame
        frame = frame.f_back


def _heard(actor: Actor) -> str:
    """What it was answered last: often that is why."""
    if actor.heard is None or not isinstance(actor.heard[0], Send):
        return ""
    lines, said = actor.code.words.of(*actor.heard)
    return f"\n    after {lines[-1]} -> {'; '.join(said[-1:])}"
