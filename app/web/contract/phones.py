"""What a class's phones are answered."""

from __future__ import annotations

from app.domain import Invalid, StoreAway
from app.service.classroom.nickname import LONGEST_NAME
from app.text import Text
from app.web.classroom import Joined, State
from app.web.contract.common import PAGE
from app.web.contract.parts import Answer, Body, Field, Operation

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
