"""Stampedes and comparisons."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

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
from app.lab.comparison.exports import FORMS
from app.lab.comparison.history import LAST, Past
from app.lab.comparison.presentation import Document as Comparison
from app.lab.contract.fields import BOOKS, BUYERS, COMPARED, OVER, ROUND, SEEN, STREAM, leads, named
from app.lab.stampede.views import Document as Run
from app.server.contract.common import PAGE
from app.server.contract.parts import Answer, Body, Field, Kind, Link, Operation
from app.text import Text

A_RUN, A_COMPARISON = "apple-0192f0c15d", "comparison-0192f0c15d"
RUN = {"id": named(Text("A run's id."), A_RUN)}
COMPARISON = {"id": named(Text("A comparison's id."), A_COMPARISON)}
LOOK, STOP = Text("How it goes."), Text("To stop it.")


def operations(
    of: str,
    says: Mapping[str, Text],
    fields: Mapping[str, Field],
    kind: Any,
    path: Mapping[str, Field],
    unknown: Kind,
    refused: Sequence[Kind] = (),
    **further: Link,
) -> dict[str, Operation]:
    """How one of a `kind` is started, shown, watched and stopped; `of` is its blueprint.

    A start may be `refused` for further reasons.
    """
    look, stop = leads(f"{of}.show", LOOK, id="id"), leads(f"{of}.stop", STOP, id="id")
    watch = leads(f"{of}.events", Text("What comes of it, as it comes."), id="id")
    begun = Answer(
        says=Text("It is on."),
        json=kind,
        headers=("Location",),
        links={"look": look, "watch": watch, "stop": stop},
    )
    shown = Answer(
        says=Text("How it goes, or went."), json=kind, html=True, links={"stop": stop, **further}
    )
    taken = {name: link for name, link in further.items() if name == "take"}
    stopping = Answer(
        says=Text("It has been asked to end."), json=kind, links={"look": look, **taken}
    )
    problems = (unknown, *BOOKS)
    return {
        f"{of}.index": Operation(
            name=says["page"], says=says["fill"], answers=PAGE, problems=BOOKS
        ),
        f"{of}.start": Operation(
            name=says["start"],
            says=says["runs"],
            body=Body(fields=fields, closed=True),
            answers={201: begun, 303: SEEN},
            problems=(Invalid, UnknownItem, RunIsOn, ComparisonIsOn, *refused, Lacking, *BOOKS),
        ),
        f"{of}.show": Operation(
            name=says["one"], path=path, answers={200: shown}, problems=problems
        ),
        f"{of}.events": Operation(
            name=says["watch"],
            path=path,
            headers=("Last-Event-ID",),
            answers={200: STREAM, 204: OVER},
            problems=problems,
        ),
        f"{of}.stop": Operation(
            name=says["stop"], path=path, answers={202: stopping, 303: SEEN}, problems=problems
        ),
    }


STAMPEDES = operations(
    "stampede",
    {
        "page": Text("The stampedes' page"),
        "fill": Text("Fields of a stampede in the address fill its form in."),
        "start": Text("Start a stampede"),
        "runs": Text("A round with a crowd of buyers, who buy as fast as they can."),
        "one": Text("A run"),
        "watch": Text("Watch a run"),
        "stop": Text("Stop a run"),
    },
    ROUND | BUYERS,
    Run,
    RUN,
    UnknownRun,
    (StockHeld,),
)
COMPARISONS = {
    **operations(
        "compare",
        {
            "page": Text("The comparisons' page"),
            "fill": Text("Fields of a comparison in the address fill its form in."),
            "start": Text("Start a comparison"),
            "runs": Text(
                "Runs of several ways to sell, one after the other. A form repeats `modes`."
            ),
            "one": Text("A comparison"),
            "watch": Text("Watch a comparison"),
            "stop": Text("Stop a comparison"),
        },
        COMPARED,
        Comparison,
        COMPARISON,
        UnknownComparison,
        run=leads("stampede.show", Text("The run that is on."), id="run"),
        take=Link(
            to="compare.export",
            says=Text("To take it away."),
            takes={"id": "$response.body#/id", "form": "csv"},
        ),
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
    "history.index": Operation(
        name=Text("All that was measured"),
        says=Text("The newest first, page by page."),
        query={
            "page": Field(
                says=Text("Which page; the first is 1."),
                schema={"type": "integer", "minimum": 1, "maximum": LAST},
                example=1,
            ),
        },
        answers={200: Answer(says=Text("One page."), json=Past, html=True)},
        problems=(Invalid, *BOOKS),
    ),
}
