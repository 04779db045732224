"""The classroom on the projector."""

from __future__ import annotations

from dataclasses import replace

from app.domain import ClassIsOn, Invalid, Lacking, RunIsOn, StockHeld
from app.lab.classroom.views import FIELDS
from app.lab.contract.fields import BOOKS, MODE, ROUND, SEEN, STREAM, leads
from app.lab.contract.rounds import AUDIT, LOOK
from app.server.contract.common import PAGE
from app.server.contract.parts import Answer, Body, Field, Operation
from app.service.round_view import View
from app.text import Text

SALE = {
    name: Field(says=field.says, schema=field.schema, example=field.example)
    for name, field in (ROUND | {"mode": MODE}).items()
    if name in FIELDS
}
PHONE = Field(says=Text("A phone's id, as the events tell it."), schema={"type": "string"})
HIDDEN = replace(PHONE, example="0192f0c15d3e7c41")

CLASSROOM = {
    "classroom.show": Operation(
        name=Text("The classroom's page"),
        says=Text("Fields of the sale in the address fill its form in."),
        answers=PAGE,
        problems=(Lacking, *BOOKS),
    ),
    "classroom.start": Operation(
        name=Text("Start the class's sale"),
        says=Text("What is left out is as in the demonstration."),
        body=Body(fields=SALE, closed=True),
        answers={
            201: Answer(
                says=Text("It counts down."),
                json=View,
                links={
                    "close": leads("classroom.close", Text("To close it."), number="round"),
                    "look": LOOK,
                    "audit": AUDIT,
                },
            ),
            303: SEEN,
        },
        problems=(Invalid, ClassIsOn, RunIsOn, StockHeld, Lacking, *BOOKS),
    ),
    "classroom.new": Operation(
        name=Text("A new class"),
        says=Text("Screens and phones forget the one before; the books do not."),
        answers={
            200: Answer(says=Text("It can join."), json=dict[str, str], example={"phase": "idle"}),
            303: SEEN,
        },
        problems=(ClassIsOn, Lacking, *BOOKS),
    ),
    "classroom.close": Operation(
        name=Text("Close the sale"),
        says=Text("Of that round only: who comes late does not end the next one."),
        answers={
            202: Answer(says=Text("It closes."), json=dict[str, int], example={"round": 1}),
            303: SEEN,
        },
        problems=BOOKS,
    ),
    "classroom.names": Operation(
        name=Text("Hide a nickname, or show it again"),
        body=Body(fields={"hide": PHONE, "show": HIDDEN}),
        answers={200: Answer(says=Text("Done."), json=dict[str, str]), 303: SEEN},
        problems=(Invalid, *BOOKS),
    ),
    "classroom.events": Operation(
        name=Text("Watch the class"),
        headers=("Last-Event-ID",),
        answers={200: STREAM},
        problems=BOOKS,
    ),
}
