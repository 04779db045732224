"""What a suspended strand knows: its frames, where each stands, and what its variables hold.

Two moments of one history with equal fingerprints will go on alike: so a loop that polls is seen
to be a loop. Of different histories that holds only if they are whole: `return x` inside of
try/finally keeps `x` where no variable shows it.
"""

from __future__ import annotations

from types import FrameType, FunctionType, MethodType, ModuleType
from typing import Any, NamedTuple

from greenlet import greenlet
from redis.client import Pipeline
from redis.lock import Lock

from app.explorer.stack import keeps_nothing_unseen
from app.locks.handle import Counts

PLAIN = (type(None), bool, int, float, str, bytes)
# Nobody decides anything by what these hold, and they change at every poll.
COUNTED = (Counts,)
DEPTH = 6  # of objects in objects
# redis-py's frames and objects hold times and counters of no consequence: where they stand is
# enough. The gate's are ours.
SKIPPED = ("redis.", "app.explorer.")


class Look(NamedTuple):
    frames: tuple[object, ...]
    whole: bool  # nothing that it knows is left out


def fingerprint(strand: greenlet) -> Look:
    """Of a greenlet that waits; without frames when it has not begun or has ended."""
    frames: list[object] = []
    whole = True
    frame: FrameType | None = strand.gr_frame
    while frame is not None:
        module = frame.f_globals.get("__name__", "")
        if module.startswith(SKIPPED) and module != "redis.lock":
            frames.append((frame.f_code, frame.f_lasti))
        else:
            frames.append((frame.f_code, frame.f_lasti, _frozen(frame.f_locals, DEPTH)))
            whole = whole and keeps_nothing_unseen(frame)
        frame = frame.f_back
    return Look(tuple(frames), whole)


def _frozen(value: Any, depth: int) -> object:
    """A value that compares by content; of what is not ours, only its type."""
    kind = type(value)
    if kind in PLAIN:
        return value
    if depth == 0 or kind in COUNTED:
        return kind
    if kind in (list, tuple):
        return tuple(_frozen(one, depth - 1) for one in value)
    if kind in (set, frozenset):
        return frozenset(_frozen(one, depth - 1) for one in value)
    if kind is dict:
        return tuple((_frozen(key, 1), _frozen(one, depth - 1)) for key, one in value.items())
    if kind is FunctionType:
        cells = value.__closure__ or ()
        return (value.__code__, *(_frozen(_content(cell), depth - 1) for cell in cells))
    if kind is MethodType:
        return (value.__func__.__code__, _frozen(value.__self__, depth - 1))
    if kind is Pipeline:  # what it will send, in time
        return (kind, _frozen(value.command_stack, depth - 1))
    if kind is Lock:
        return (kind, _frozen(vars(value.local), depth - 1))
    if kind is ModuleType or kind.__module__.startswith(SKIPPED):
        return kind
    held = getattr(value, "__dict__", None)
    if held is not None:
        return (kind, _frozen(held, depth - 1))
    slots = [name for name in getattr(kind, "__slots__", ()) if hasattr(value, name)]
    return (kind, *(_frozen(getattr(value, name), depth - 1) for name in slots))


def _content(cell: Any) -> object:
    try:
        return cell.cell_contents
    except ValueError:  # not set yet
        return None
