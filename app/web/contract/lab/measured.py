"""Stampedes and comparisons."""

from __future__ import annotations

from app.domain import (
    ComparisonIsOn,
    Invalid,
    Lacking,
    RunIsOn,
    StockHeld,
    UnknownComparison,
    UnknownItem,
    UnknownRun,
)
from app.text import Text
from app.web.contract.common import PAGE
from app.web.contract.fields import LANGUAGE
from app.web.contract.lab.fields import (
    BOOKS,
    BUYERS,
    COMPARED,
    OVER,
    ROUND,
    SEEN,
    STREAM,
    leads,
    named,
)
from app.web.contract.parts import Answer, Body, Field, Link, Operation
from app.web.lab.compared import Document as Comparison
from app.web.lab.exports import FORMS
from app.web.lab.history import LAST, Past
from app.web.lab.stampede import Document as Run

A_RUN, A_COMPARISON = "apple-0192f0c15d", "comparison-0192f0c15d"
RUN = {"id": named(Text("A run's id."), A_RUN)}
COMPARISON = {"id": named(Text("A comparison's id."), A_COMPARISON)}
STOPPING = Text("It has been asked to end.")
GOES, STOP = Text("How it goes."), Text("To stop it.")


def ways_on(of: str) -> dict[str, Link]:
    """Where one that was started leads; `of` is its blueprint."""
    return {
        "look": leads(f"{of}.show", GOES, id="id"),
        "watch": leads(f"{of}.events", Text("What comes of it, as it comes."), id="id"),
        "stop": leads(f"{of}.stop", STOP, id="id"),
    }


STAMPEDES = {
    "stampede.index": Operation(
        name=Text("The stampedes' page"),
        says=Text("Fields of a stampede in the address fill its form in."),
        query={"language": LANGUAGE},
        answers=PAGE,
        problems=BOOKS,
    ),
    "stampede.start": Operation(
        name=Text("Start a stampede"),
        says=Text("A round with a crowd of buyers, who buy as fast as they can."),
        body=Body(fields=ROUND | BUYERS, closed=True),
        answers={
            201: Answer(
                says=Text("It is on."),
                json=Run,
                headers=("Location",),
                links=ways_on("stampede"),
            ),
            303: SEEN,
        },
        problems=(Invalid, UnknownItem, RunIsOn, ComparisonIsOn, StockHeld, Lacking, *BOOKS),
    ),
    "stampede.show": Operation(
        name=Text("A run"),
        path=RUN,
        query={"language": LANGUAGE},
        answers={
            200: Answer(
                says=Text("How it goes, or went."),
                json=Run,
                html=True,
                links={"stop": leads("stampede.stop", STOP, id="id")},
            )
        },
        problems=(UnknownRun, *BOOKS),
    ),
    "stampede.events": Operation(
        name=Text("Watch a run"),
        path=RUN,
        headers=("Last-Event-ID",),
        answers={200: STREAM, 204: OVER},
        problems=(UnknownRun, *BOOKS),
    ),
    "stampede.stop": Operation(
        name=Text("Stop a run"),
        path=RUN,
        answers={
            202: Answer(
                says=STOPPING, json=Run, links={"look": leads("stampede.show", GOES, id="id")}
            ),
            303: SEEN,
        },
        problems=(UnknownRun, *BOOKS),
    ),
}
TAKEN = Link(
    to="compare.export",
    says=Text("To take it away."),
    takes={"id": "$response.body#/id", "form": "csv"},
)
COMPARISONS = {
    "compare.index": Operation(
        name=Text("The comparisons' page"),
        says=Text("Fields of a comparison in the address fill its form in."),
        query={"language": LANGUAGE},
        answers=PAGE,
        problems=BOOKS,
    ),
    "compare.start": Operation(
        name=Text("Start a comparison"),
        says=Text("Runs of several ways to sell, one after the other. A form repeats `modes`."),
        body=Body(fields=COMPARED, closed=True),
        answers={
            201: Answer(
                says=Text("It is on."),
                json=Comparison,
                headers=("Location",),
                links=ways_on("compare"),
            ),
            303: SEEN,
        },
        problems=(Invalid, UnknownItem, RunIsOn, ComparisonIsOn, Lacking, *BOOKS),
    ),
    "compare.show": Operation(
        name=Text("A comparison"),
        path=COMPARISON,
        query={"language": LANGUAGE},
        answers={
            200: Answer(
                says=Text("How it goes, or went."),
                json=Comparison,
                html=True,
                links={
                    "run": leads("stampede.show", Text("The run that is on."), id="run"),
                    "stop": leads("compare.stop", STOP, id="id"),
                    "take": TAKEN,
                },
            )
        },
        problems=(UnknownComparison, *BOOKS),
    ),
    "compare.export": Operation(
        name=Text("A comparison to take away"),
        path=COMPARISON
        | {
            "form": Field(
                says=Text("What kind of file."),
                schema={"type": "string", "enum": list(FORMS)},
                example="csv",
                required=True,
            )
        },
        answers={
            200: Answer(
                says=Text("A file."),
                json=Comparison,
                html=True,
                other=("text/csv",),
                headers=("Content-Disposition",),
            )
        },
        problems=(UnknownComparison, *BOOKS),
    ),
    "compare.events": Operation(
        name=Text("Watch a comparison"),
        path=COMPARISON,
        headers=("Last-Event-ID",),
        answers={200: STREAM, 204: OVER},
        problems=(UnknownComparison, *BOOKS),
    ),
    "compare.stop": Operation(
        name=Text("Stop a comparison"),
        path=COMPARISON,
        answers={
            202: Answer(
                says=STOPPING,
                json=Comparison,
                links={"look": leads("compare.show", GOES, id="id"), "take": TAKEN},
            ),
            303: SEEN,
        },
        problems=(UnknownComparison, *BOOKS),
    ),
    "history.index": Operation(
        name=Text("All that was measured"),
        says=Text("The newest first, page by page."),
        query={
            "page": Field(
                says=Text("Which page; the first is 1."),
                schema={"type": "integer", "minimum": 1, "maximum": LAST},
                example=1,
            ),
            "language": LANGUAGE,
        },
        answers={200: Answer(says=Text("One page."), json=Past, html=True)},
        problems=(Invalid, *BOOKS),
    ),
}
