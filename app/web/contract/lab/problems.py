"""Problems that only the lab has: of what cannot be explored or played."""

from __future__ import annotations

from app.text import Text
from app.web.contract.problems import Problem, Told
from app.web.lab.transactions import NOT_PLAYED
from app.web.lab.unfollowed import BUSY, NOT_EXPLORED, NOT_POSSIBLE, NOTHING

KINDS = {
    "impossible": Told(
        400,
        NOT_POSSIBLE,
        Text("The schedule has no such step, or nobody can take it at that point."),
        Problem,
    ),
    "unknown-finding": Told(
        404,
        NOT_POSSIBLE,
        Text("There is no finding of that name, with these buyers and faults."),
        Problem,
    ),
    "nothing-to-explore": Told(
        404, NOTHING, Text("No mode or recipe of that name can be explored."), Problem
    ),
    "bad-sell": Told(
        422,
        NOT_EXPLORED,
        Text("Something is wrong with the file of LAB_SELL: its code, or where it is."),
        Problem,
    ),
    "explorer-busy": Told(
        503,
        BUSY,
        Text("Too many ask at once, or the explorer's process died: ask again."),
        Problem,
    ),
    "not-played": Told(
        503,
        NOT_PLAYED,
        Text("One of the two servers could not be started, or did not answer."),
        Problem,
    ),
}
