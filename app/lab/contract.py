"""The lab's side of the contract."""

from __future__ import annotations

from typing import Any

from app.domain import DatabaseAway, Invalid, Newer, StoreAway, Unreadable, WrongPair
from app.lab.bad_links import BUSY, NOT_EXPLORED, NOT_PLAYED, NOT_POSSIBLE, NOTHING
from app.server.contract.document import ApiSide
from app.server.contract.fields import EVERY
from app.server.contract.operation import Answer, Kind
from app.server.contract.problems import KINDS, Problem, ProblemType
from app.server.contract.views import COMMON_GROUPS
from app.text import Text

# Problems of operations that ask the store and the database.
BOOKS: tuple[Kind, ...] = (StoreAway, DatabaseAway, WrongPair, Newer, Unreadable)
# Request headers and answers of an operation that streams events.
EVENTS: dict[str, Any] = {
    "answers": {
        200: Answer(
            None,
            Text(
                "Server-sent events with ids: a client that was cut off continues after the last "
                "id it got."
            ),
        ),
        204: None,
    },
    "other": ("text/event-stream",),
    "headers": ("X-Accel-Buffering",),
    "asks": ("Last-Event-ID",),
}
LABS = {
    "impossible": ProblemType(
        400,
        NOT_POSSIBLE,
        Text("The schedule has no such step, or no buyer can take it at that point."),
        Problem,
    ),
    "unknown-finding": ProblemType(
        404,
        NOT_POSSIBLE,
        Text("There is no finding of that name, with these buyers and faults."),
        Problem,
    ),
    "nothing-to-explore": ProblemType(
        404, NOTHING, Text("No mode or recipe of that name can be explored."), Problem
    ),
    "bad-sell": ProblemType(
        422,
        NOT_EXPLORED,
        Text("Something is wrong with the file of LAB_SELL: its code, or where it is."),
        Problem,
    ),
    "explorer-busy": ProblemType(
        503,
        BUSY,
        Text("Too many ask at once, or the explorer's process died: ask again."),
        Problem,
    ),
    "not-played": ProblemType(
        503,
        NOT_PLAYED,
        Text("One of the two servers could not be started, or did not answer."),
        Problem,
    ),
}

SIDE = ApiSide(
    title=Text("Last Apple: the lab"),
    says=Text(
        "Start rounds, stampedes and comparisons, and read what came of them. Errors are problems "
        "(RFC 9457), each with a type of its own. Where the lab is behind a token, the first "
        "request brings it in its address (`?token=…`), and a cookie brings it from then on; a "
        "program sends it in the header Authorization (Bearer). Without it everything but probes "
        "and files is a 403. Other sites' pages may only link to it."
    ),
    groups={
        "lab": Text("Rounds"),
        "holds": Text("Holds"),
        "stampede": Text("Stampedes"),
        "compare": Text("Comparisons"),
        "history": Text("History"),
        "classroom": Text("Classroom"),
        "explorer": Text("Explorer"),
        "search": Text("The explorer's searches"),
        "transactions": Text("Transactions"),
        "read": Text("Read"),
        "metrics": Text("Metrics"),
        **COMMON_GROUPS,
    },
    kinds=KINDS | LABS,
    everywhere=(400, 403),
    of_bodies=(400, 408, 411, 413, 415, Invalid),
    headers=(*EVERY, "Cross-Origin-Opener-Policy"),
    of_gets={
        303: Answer(
            None,
            Text("The address had the token: the same without it."),
            headers=("Location", "Set-Cookie"),
        )
    },
)
