"""The explorer and the transactions."""

from __future__ import annotations

from typing import Any

from app.domain import Bound, Invalid
from app.domain.fault_words import FAULT_WORDS
from app.explorer.targets import explorable
from app.lab.contract.fields import SEEN, leads, number
from app.lab.explorer.searches import BUYERS, MOST_FAULTS, USUAL
from app.lab.transactions import CASES, Result
from app.lab.transactions.views import Playing
from app.server.contract.parts import Answer, Body, Field, Operation
from app.text import Text

TARGET = {
    "name": Field(
        says=Text("What is explored: `watch`, `lock:lease`."),
        schema={"type": "string", "enum": explorable()},
        example="naive",
        required=True,
    )
}
FOUND = leads("explorer.player", Text("What the search has found."), name="target")
ASKED = {
    "buyers": number(Text("Buyers at once."), Bound(*BUYERS, Text("buyers")), BUYERS[0]),
    **{
        kind: number(FAULT_WORDS[kind].field, Bound(0, MOST_FAULTS, Text("faults")), usual)
        for kind, usual in USUAL._asdict().items()
    },
}
MOVES = Field(
    says=Text("A schedule: who moves, step by step, as the page's links write it."),
    schema={"type": "string"},
)
LOOKING = Answer(
    says=Text("It is being searched: ask again."), json=dict[str, Any], links={"found": FOUND}
)
SEARCH = {
    200: Answer(says=Text("It is found."), json=dict[str, Any], links={"found": FOUND}),
    202: LOOKING,
    303: SEEN,
}
FAILS = ("nothing-to-explore", "explorer-busy", "bad-sell", Invalid)

EXPLORER = {
    "explorer.index": Operation(
        name=Text("What can be explored"),
        answers={
            200: Answer(
                says=Text("All targets."),
                json=dict[str, list[str]],
                html=True,
                links={"first": leads("explorer.player", Text("The first."), name="targets/0")},
            )
        },
    ),
    "explorer.player": Operation(
        name=Text("The shortest schedule that goes wrong"),
        says=Text("Step by step, with every finding. The usual search is begun when it is needed."),
        path=TARGET,
        query={
            **ASKED,
            "finding": Field(says=Text("Which finding to play."), schema={"type": "string"}),
            "step": Field(
                says=Text("At which step to stand."), schema={"type": "integer", "minimum": 0}
            ),
        },
        answers={
            200: Answer(
                says=Text("The findings."),
                json=dict[str, Any],
                html=True,
                links={
                    "walk": leads(
                        "explorer.scheduler",
                        Text("The same schedule, to be changed."),
                        name="target",
                        moves="finding/moves",
                    )
                },
            ),
            202: LOOKING,
        },
        problems=(*FAILS, "unknown-finding", "impossible"),
    ),
    "explorer.scheduler": Operation(
        name=Text("A schedule of one's own"),
        path=TARGET,
        query={**ASKED, "moves": MOVES},
        answers={200: Answer(says=Text("Where it leads."), json=dict[str, Any], html=True)},
        problems=(*FAILS, "impossible"),
    ),
    "search.player": Operation(
        name=Text("Search all orders"),
        says=Text("With these buyers and faults; a search takes up to half a minute."),
        path=TARGET,
        body=Body(fields=ASKED),
        answers=SEARCH,
        problems=FAILS,
    ),
    "search.scheduler": Operation(
        name=Text("Search all orders from a schedule"),
        says=Text("The same, with the faults that the schedule has."),
        path=TARGET,
        body=Body(fields=ASKED | {"moves": MOVES}),
        answers=SEARCH,
        problems=(*FAILS, "impossible"),
    ),
}
WORKING = Answer(says=Text("Both servers are at work: ask again."), json=Playing)
A_CASE = {"type": "string", "enum": [case.name for case in CASES]}
CASE = Field(
    says=Text("Of a form: the case whose page is shown then."),
    schema=A_CASE,
    example=CASES[0].name,
)
STEP = Field(says=Text("At which step to stand."), schema={"type": "integer", "minimum": 0})

TRANSACTIONS = {
    "transactions.index": Operation(
        name=Text("MULTI beside BEGIN"),
        says=Text("What a Valkey and a PostgreSQL said in each case; a page has the first one."),
        query={"step": STEP},
        answers={
            200: Answer(
                says=Text("All cases."),
                json=list[Result],
                html=True,
                links={"first": leads("transactions.one", Text("The first."), name="0/name")},
            ),
            202: WORKING,
        },
        problems=(Invalid, "not-played"),
    ),
    "transactions.one": Operation(
        name=Text("One case"),
        path={
            "name": Field(
                says=Text("A case's name."), schema=A_CASE, example=CASES[0].name, required=True
            )
        },
        query={"step": STEP},
        answers={200: Answer(says=Text("The case."), json=Result, html=True), 202: WORKING},
        problems=(Invalid, "not-played"),
    ),
    "transactions.again": Operation(
        name=Text("Play all cases again"),
        body=Body(fields={"case": CASE}),
        answers={202: WORKING, 303: SEEN},
        problems=("not-played",),
    ),
}
