"""The lab's document."""

from __future__ import annotations

from app.domain import Invalid
from app.text import Text
from app.web.contract.common import COMMON, COMMON_GROUPS
from app.web.contract.document import Side
from app.web.contract.fields import EVERY
from app.web.contract.lab.classroom import CLASSROOM
from app.web.contract.lab.explorer import EXPLORER, TRANSACTIONS
from app.web.contract.lab.measured import COMPARISONS, STAMPEDES
from app.web.contract.lab.metrics import METRICS
from app.web.contract.lab.problems import KINDS as LABS
from app.web.contract.lab.read import READ
from app.web.contract.lab.rounds import ROUNDS
from app.web.contract.parts import Answer
from app.web.contract.problems import KINDS

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
