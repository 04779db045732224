"""The shop's document."""

from __future__ import annotations

from app.domain import (
    AlreadyPaid,
    HoldOver,
    InDoubt,
    Invalid,
    Newer,
    NotBooked,
    StoreAway,
    UnknownOrder,
    Unreadable,
    WrongPair,
)
from app.server.contract.common import COMMON, COMMON_GROUPS, PAGE, SERVERS
from app.server.contract.document import Side
from app.server.contract.parts import Answer, Body, Field, Operation
from app.service.classroom.nickname import LONGEST_NAME
from app.shop.classroom import Joined, State
from app.shop.contract.paths import SHOP, THE_ORDER
from app.shop.payments import Settled
from app.text import Text

NICKNAME = Field(
    says=Text("A nickname, as the projector shows it."),
    schema={"type": "string", "minLength": 1, "maxLength": LONGEST_NAME, "pattern": "[A-Za-z0-9]"},
    example="Ada",
    required=True,
)

PHONES = {
    "class.show": Operation(name=Text("The class's page on a phone"), answers=PAGE),
    "class.rename": Operation(name=Text("The page that asks for a nickname"), answers=PAGE),
    "class.join": Operation(
        name=Text("Join the class"),
        says=Text("Or take another nickname. The cookie that comes back is the phone's."),
        body=Body(fields={"name": NICKNAME}),
        answers={
            201: Answer(
                says=Text("The phone is in the class."),
                json=Joined,
                example={"name": "Ada"},
                headers=("Set-Cookie",),
            ),
            303: Answer(says=Text("The same, to a form."), headers=("Location", "Set-Cookie")),
        },
        problems=(Invalid,),
    ),
    "class.state": Operation(
        name=Text("How the sale stands"),
        says=Text("For the phone whose cookie comes with the request; a sign of life, too."),
        answers={200: Answer(says=Text("How it stands."), json=State)},
        problems=(Invalid, StoreAway),
    ),
}


ORDER_PAGE = Answer(says=Text("A form: to the order's page."), headers=("Location",))
FAILS = (HoldOver, InDoubt, NotBooked, UnknownOrder, WrongPair, Newer, Unreadable, *SERVERS)
GIVEN_UP = Answer(says=Text("Its units are on sale again, once."), json=Settled)

HOLDING = {
    "holding.pay": Operation(
        name=Text("Pay for what is held"),
        says=Text("Sent again it is the same order; too late it is refused."),
        path={"id": THE_ORDER},
        answers={201: Answer(says=Text("Paid for: it is sold."), json=Settled), 303: ORDER_PAGE},
        problems=FAILS,
    ),
    "holding.decline": Operation(
        name=Text("The payment is declined"),
        path={"id": THE_ORDER},
        answers={200: GIVEN_UP, 303: ORDER_PAGE},
        problems=(AlreadyPaid, *FAILS),
    ),
    "holding.cancel": Operation(
        name=Text("Give up what is held"),
        path={"id": THE_ORDER},
        answers={200: GIVEN_UP, 303: ORDER_PAGE},
        problems=(AlreadyPaid, *FAILS),
    ),
}


SIDE = Side(
    title=Text("Last Apple: the shop"),
    says=Text(
        "Buy, and look up what was bought. Errors are problems (RFC 9457), each with a type of its "
        "own. A GET answers a HEAD, too; a method that an address does not take is a 405, whose "
        "Allow says which it takes. A request whose head is longer than 16 KiB is a 431, and one "
        "that is no HTTP a 400, without a problem's document."
    ),
    groups={
        "shop": Text("Shop"),
        "holding": Text("Paying for what is held"),
        "class": Text("The class's phones"),
        **COMMON_GROUPS,
    },
    operations={**SHOP, **HOLDING, **PHONES, **COMMON},
)
