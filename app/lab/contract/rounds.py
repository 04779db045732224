"""Rounds and what an audit finds."""

from __future__ import annotations

from app.domain import (
    ROUND_BOUNDS,
    Invalid,
    Lacking,
    NotOnSale,
    StockHeld,
    UnknownItem,
    UnknownRound,
)
from app.lab.contract.fields import BOOKS, ROUND, SEEN, STORE, leads, number
from app.lab.round_form import HOLD, PER_BUYER
from app.lab.rounds.holds import AllDue
from app.lab.rounds.views import Everything, Stands
from app.server.contract.common import PAGE
from app.server.contract.parts import Answer, Body, Operation
from app.service.round_view import View
from app.service.verdict import Audit
from app.text import Text

MOST_EACH = number(
    Text("Units that one buyer may have of the round; 0: as many as there are."),
    ROUND_BOUNDS["per_buyer"],
    0,
)
TO_PAY = number(
    Text("ms that a buyer has to pay; 0: what is bought is sold at once."), ROUND_BOUNDS["hold"], 0
)
IT = {"item": "item", "number": "round"}
LOOK = leads("lab.show", Text("How it stands."), **IT)
AUDIT = leads("lab.audit", Text("What its audit finds."), **IT)
HOLDS = leads("holds.show", Text("What is held of it."), **IT)
END = leads("lab.end", Text("To end it, while it is the newest one."), item="item")

ROUNDS = {
    "lab.index": Operation(
        name=Text("The console"),
        says=Text("Fields of a round in the address fill its form in."),
        answers=PAGE,
        problems=BOOKS,
    ),
    "lab.start": Operation(
        name=Text("Start a round"),
        says=Text("It ends the item's running one."),
        body=Body(fields=ROUND | {PER_BUYER: MOST_EACH, HOLD: TO_PAY}, closed=True),
        answers={
            201: Answer(
                says=Text("It sells."),
                json=View,
                links={"look": LOOK, "audit": AUDIT, "holds": HOLDS, "end": END},
            ),
            303: SEEN,
        },
        problems=(Invalid, UnknownItem, StockHeld, Lacking, *BOOKS),
    ),
    "lab.newest": Operation(
        name=Text("An item's newest round"),
        answers={
            200: Answer(says=Text("The round."), json=Stands, links={"look": LOOK, "audit": AUDIT}),
            303: SEEN,
        },
        problems=(UnknownItem, UnknownRound, Lacking, *BOOKS),
    ),
    "lab.show": Operation(
        name=Text("A round"),
        answers={
            200: Answer(
                says=Text("The round."),
                json=Stands,
                html=True,
                links={"audit": AUDIT, "holds": HOLDS, "end": END},
            )
        },
        problems=(UnknownItem, UnknownRound, Lacking, *BOOKS),
    ),
    "lab.end": Operation(
        name=Text("End a round"),
        says=Text("The item's newest one; nothing is sold afterwards."),
        answers={
            200: Answer(
                says=Text("It has ended."), json=View, links={"look": LOOK, "audit": AUDIT}
            ),
            303: SEEN,
        },
        problems=(UnknownItem, NotOnSale, *BOOKS),
    ),
    "lab.audit": Operation(
        name=Text("What the audit finds"),
        says=Text("Stocked, left and sold by the books, and a verdict; `settling` is none yet."),
        answers={200: Answer(says=Text("What it found."), json=Audit)},
        problems=(UnknownItem, UnknownRound, Lacking, *BOOKS),
    ),
    "holds.show": Operation(
        name=Text("The holds that run out next"),
        answers={200: Answer(says=Text("Of this round."), json=AllDue)},
        problems=(UnknownItem, UnknownRound, Lacking, *BOOKS),
    ),
    "lab.about_us": Operation(
        name=Text("What this runs on"),
        says=Text("And all modes and recipes that it can sell with."),
        answers={200: Answer(says=Text("All of it."), json=Everything)},
        problems=STORE[:1],
    ),
}
