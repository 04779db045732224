"""Sentences for links into the explorer that cannot be followed."""

from __future__ import annotations

from app.text import Text

NOT_POSSIBLE = Text("That is not possible here")
NOT_PLAYED = Text("The cases could not be played")
NOTHING = Text("Nothing to explore")
NOT_EXPLORED = Text("This file cannot be explored")
BUSY = Text("The explorer is busy")


def no_such_move(nth: int, move: str) -> Text:
    """Return the sentence; `nth` counts from 1; 0: the link has no schedule at all."""
    if not nth:
        return Text("The link holds no schedule that can be read, or one that is too long.")
    return Text(
        "Step %(number)s of this schedule, “%(move)s”, is impossible: no buyer can take it at that "
        "point.",
        number=nth,
        move=move,
    )


def no_such_step(last: int) -> Text:
    return Text("This schedule has the steps 0 to %(last)s.", last=last)


def no_such_finding(target: str) -> Text:
    return Text("No finding of that name for %(mode)s, with these buyers and faults.", mode=target)
