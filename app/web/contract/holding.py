"""The pretended payment of what is held."""

from __future__ import annotations

from app.domain import (
    AlreadyPaid,
    HoldOver,
    InDoubt,
    Newer,
    NotBooked,
    UnknownOrder,
    Unreadable,
    WrongPair,
)
from app.text import Text
from app.web.contract.common import SERVERS
from app.web.contract.parts import Answer, Operation
from app.web.contract.shop import THE_ORDER
from app.web.holding import Settled

PAGE = Answer(says=Text("A form: to the order's page."), headers=("Location",))
FAILS = (HoldOver, InDoubt, NotBooked, UnknownOrder, WrongPair, Newer, Unreadable, *SERVERS)
GIVEN_UP = Answer(says=Text("Its units are on sale again, once."), json=Settled)

HOLDING = {
    "holding.pay": Operation(
        name=Text("Pay for what is held"),
        says=Text("Sent again it is the same order; too late it is refused."),
        path={"id": THE_ORDER},
        answers={201: Answer(says=Text("Paid for: it is sold."), json=Settled), 303: PAGE},
        problems=FAILS,
    ),
    "holding.decline": Operation(
        name=Text("The payment is declined"),
        path={"id": THE_ORDER},
        answers={200: GIVEN_UP, 303: PAGE},
        problems=(AlreadyPaid, *FAILS),
    ),
    "holding.cancel": Operation(
        name=Text("Give up what is held"),
        path={"id": THE_ORDER},
        answers={200: GIVEN_UP, 303: PAGE},
        problems=(AlreadyPaid, *FAILS),
    ),
}
