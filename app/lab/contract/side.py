"""The lab's document."""

from __future__ import annotations

from typing import Any

from app.domain import Invalid, UnknownWay
from app.lab.bad_links import BUSY, NOT_EXPLORED, NOT_POSSIBLE, NOTHING
from app.lab.contract.classroom import CLASSROOM
from app.lab.contract.explorer import EXPLORER, TRANSACTIONS
from app.lab.contract.fields import MODES, SEEN, leads, named
from app.lab.contract.measured import COMPARISONS, STAMPEDES
from app.lab.contract.rounds import ROUNDS
from app.lab.transactions.views import NOT_PLAYED
from app.server.contract.common import COMMON, COMMON_GROUPS
from app.server.contract.document import Side
from app.server.contract.fields import EVERY
from app.server.contract.parts import Answer, Field, Operation
from app.server.contract.problems import KINDS, Problem, Told
from app.text import Text


def side(says: Text, example: str) -> Field:
    return Field(
        says=says, schema={"type": "string", "enum": MODES}, example=example, required=True
    )


READ = {
    "read.index": Operation(
        name=Text("All ways to sell"),
        answers={
            200: Answer(
                says=Text("What each says of itself."),
                json=list[dict[str, Any]],
                html=True,
                links={"first": leads("read.one", Text("The first."), name="0/target")},
            )
        },
    ),
    "read.pair": Operation(
        name=Text("Two side by side: where to"),
        query={
            "left": side(Text("A way to sell, on the left."), "naive"),
            "right": side(Text("A way to sell, on the right."), "watch"),
        },
        answers={303: SEEN},
        problems=(UnknownWay,),
    ),
    "read.one": Operation(
        name=Text("A way to sell, or two"),
        says=Text("Its source, timeline, faults and costs; of two the lines that differ."),
        path={"name": named(Text("`watch`, or `naive...watch` for two."), "watch")},
        answers={200: Answer(says=Text("The page."), json=dict[str, Any], html=True)},
        problems=(UnknownWay,),
    ),
}


LABS = {
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


METRICS = {
    "metrics.scrape": Operation(
        name=Text("Figures for Prometheus"),
        says=Text("With the lab's token in the header Authorization (Bearer), where it asks."),
        answers={200: Answer(says=Text("In Prometheus' text format."), other=("text/plain",))},
    ),
}


SIDE = Side(
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
        "transactions": Text("MULTI"),
        "read": Text("Read"),
        "metrics": Text("Metrics"),
        **COMMON_GROUPS,
    },
    operations={
        **{**ROUNDS, **STAMPEDES, **COMPARISONS, **CLASSROOM, **EXPLORER},
        **{**TRANSACTIONS, **READ, **METRICS, **COMMON},
    },
    kinds=KINDS | LABS,
    everywhere=(400, 403),
    of_bodies=(400, 408, 411, 413, 415, Invalid),
    headers=(*EVERY, "Cross-Origin-Opener-Policy"),
    of_gets={
        303: Answer(
            says=Text("The address had the token: the same without it."),
            headers=("Location", "Set-Cookie"),
        )
    },
)
