"""Errors in a user's code as text: the file, the line, and the last reply before it."""

from __future__ import annotations

import linecache
import sys
import traceback
from pathlib import Path
from types import FrameType

import redis
from redis.exceptions import LockError

from badluck.actor.actor import Actor, Files, here
from badluck.actor.request import Send

# Errors of redis-py that do not mean a bug in the code: the actor's outcome says what went wrong.
EXPECTED = (redis.ConnectionError, redis.TimeoutError, redis.WatchError, LockError)


class UserCodeError(BaseException):
    """Ends the search; no `except Exception` of the explored code catches it."""


def user_error(error: BaseException, actor: Actor) -> UserCodeError:
    """Make the error for an exception that came out of the code."""
    return UserCodeError(describe_error(error, actor.code.files) + _heard(actor))


def describe_error(error: BaseException, files: Files) -> str:
    """Return `TypeError: …`, with the innermost line of the explored files."""
    if isinstance(error, MemoryError):
        text = "takes more memory than it may have"
    else:
        text = f"{type(error).__name__}: {error}".rstrip(": ")
    if isinstance(error, SyntaxError) and files.own(error.filename or ""):
        text = f"{type(error).__name__}: {error.msg}"
        return line_text(error.filename or "", error.lineno or 1, "", text)
    frames = traceback.walk_tb(error.__traceback__)
    places = [(frame.f_code, line) for frame, line in frames if files.own(frame.f_code.co_filename)]
    if not places:
        return f"{files.name}: {text}"
    code, line = places[-1]
    return line_text(code.co_filename, line, code.co_name, text)


def locate(frame: FrameType | None, files: Files, text: str) -> str:
    """Name the line of code that has not ended; `frame` is the innermost."""
    if own := files.innermost(frame):
        return line_text(own.f_code.co_filename, own.f_lineno, own.f_code.co_name, text)
    return f"{files.name}: {text}"


def refuse_here(text: str) -> UserCodeError:
    """Make the error for a forbidden action of the running code, with its line."""
    return UserCodeError(locate(sys._getframe(1), here().actor.code.files, text))


def line_text(path: str, line: int, name: str, text: str) -> str:
    """Return `take.py, line 3, in run: …`, and that line below."""
    where = f"{Path(path).name}, line {line}"
    if name and name != "<module>":
        where += f", in {name}"
    source = linecache.getline(path, line).strip()
    return f"{where}: {text}" + (f"\n    {source:.100}" if source else "")


def line_of(path: str, line: int) -> str:
    """Return ``take.py, line 3: `left = int(…)` ``."""
    return f"{Path(path).name}, line {line}: `{linecache.getline(path, line).strip():.100}`"


def _heard(actor: Actor) -> str:
    """Name the last reply: it is often the cause."""
    if actor.heard is None or not isinstance(actor.heard[0], Send):
        return ""
    lines, replies = actor.code.words.of(*actor.heard)
    return f"\n    after {lines[-1]} -> {'; '.join(replies[-1:])}"
