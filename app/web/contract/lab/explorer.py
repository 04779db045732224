"""The explorer and the transactions."""

from __future__ import annotations

from typing import Any

from app.domain import Bound, Invalid
from app.explorer.fault_words import FAULT_WORDS
from app.service.explorer import BUYERS, MOST_FAULTS, USUAL
from app.service.transactions import CASES, Result
from app.text import Text
from app.web.contract.fields import LANGUAGE
from app.web.contract.lab.fields import SEEN, named, number
from app.web.contract.parts import Answer, Body, Field, Operation
from app.web.lab.transactions import Playing

TARGET = {"name": named(Text("What is explored: `watch`, `lock:lease`."), "naive")}
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
LOOKING = Answer(says=Text("It is being searched: ask again."), json=dict[str, Any])
SEARCH = {
    200: Answer(says=Text("It is found."), json=dict[str, Any]),
    202: LOOKING,
    303: SEEN,
}
FAILS = ("nothing-to-explore", "explorer-busy", Invalid)

EXPLORER = {
    "explorer.index": Operation(
        name=Text("What can be explored"),
        query={"language": LANGUAGE},
        answers={200: Answer(says=Text("All targets."), json=dict[str, list[str]], html=True)},
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
            "language": LANGUAGE,
        },
        answers={
            200: Answer(says=Text("The findings."), json=dict[str, Any], html=True),
            202: LOOKING,
        },
        problems=(*FAILS, "unknown-finding", "impossible"),
    ),
    "explorer.scheduler": Operation(
        name=Text("A schedule of one's own"),
        path=TARGET,
        query={**ASKED, "moves": MOVES, "language": LANGUAGE},
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
STEP = Field(says=Text("At which step to stand."), schema={"type": "integer", "minimum": 0})

TRANSACTIONS = {
    "transactions.index": Operation(
        name=Text("MULTI beside BEGIN"),
        says=Text("What a Valkey and a PostgreSQL said in each case; a page has the first one."),
        query={"step": STEP, "language": LANGUAGE},
        answers={
            200: Answer(says=Text("All cases."), json=list[Result], html=True),
            202: WORKING,
        },
        problems=(Invalid, "not-played"),
    ),
    "transactions.one": Operation(
        name=Text("One case"),
        path={"name": named(Text("A case's name."), CASES[0].name)},
        query={"step": STEP, "language": LANGUAGE},
        answers={200: Answer(says=Text("The case."), json=Result, html=True), 202: WORKING},
        problems=(Invalid, "not-played"),
    ),
    "transactions.again": Operation(
        name=Text("Play all cases again"),
        answers={202: WORKING, 303: SEEN},
        problems=("not-played",),
    ),
}
