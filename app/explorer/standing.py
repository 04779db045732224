"""Where a buyer's code stands: the lines of the mode and of the recipe that wait for an answer.

For people who look at the source. Whether two places of the code are equal is decided elsewhere
(fingerprint.py), by more than lines.
"""

from __future__ import annotations

from types import FrameType
from typing import NamedTuple

from greenlet import greenlet

SHOWN = ("app.modes.", "app.locks.", "fairlock.")


class Spot(NamedTuple):
    """A line of a module; the first line is 1."""

    module: str
    line: int


def standing(strand: greenlet) -> tuple[Spot, ...]:
    """The mode's line, then the innermost one if that is in another file.

    Nothing of a strand that has not begun or has come to its end.
    """
    spots: list[Spot] = []  # the innermost first
    frame: FrameType | None = strand.gr_frame
    while frame is not None:
        module = frame.f_globals.get("__name__", "")
        if module.startswith(SHOWN):
            spots.append(Spot(module, frame.f_lineno))
        frame = frame.f_back
    if not spots:
        return ()
    inner = spots[0]
    # The mode's own line is the one nearest to where it left its file.
    mode = next((spot for spot in spots if spot.module.startswith(SHOWN[0])), inner)
    return (mode,) if mode.module == inner.module else (mode, inner)
