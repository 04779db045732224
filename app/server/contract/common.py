"""What shop and lab have in common: probes, files, and this contract itself."""

from __future__ import annotations

from typing import Any

from app.domain import DatabaseAway, StoreAway, WrongDatabase
from app.server.contract.fields import LANGUAGE
from app.server.contract.parts import Answer, Operation
from app.server.health import Alive, Ready
from app.text import Text

SERVERS = (StoreAway, DatabaseAway, WrongDatabase)  # of what asks both of them
PAGE = {200: Answer(says=Text("A page."), html=True)}

FILES = ("text/css", "text/javascript", "image/svg+xml")
COMMON_GROUPS = {
    "health": Text("Probes"),
    "contract": Text("This contract"),
    "static": Text("Files"),
}
COMMON = {
    "health.alive": Operation(
        name=Text("Does it answer?"),
        says=Text("Touches nothing: not the store, not the database."),
        answers={200: Answer(says=Text("It does."), json=Alive, example={"status": "ok"})},
    ),
    "health.ready": Operation(
        name=Text("Can it sell and book?"),
        answers={
            200: Answer(says=Text("It can. A check may ask for a look."), json=Ready),
            503: Answer(says=Text("It cannot."), json=Ready, headers=("Retry-After",)),
        },
    ),
    "static": Operation(
        name=Text("A file of our pages"),
        answers={
            200: Answer(says=Text("The file."), other=FILES),
            206: Answer(
                says=Text("The part of it that was asked for."),
                other=FILES,
            ),
            304: Answer(says=Text("It has not changed.")),
        },
        problems=(404, 416),
    ),
    "contract.openapi": Operation(
        name=Text("This document"),
        query={"language": LANGUAGE},
        answers={200: Answer(says=Text("OpenAPI 3.1."), json=dict[str, Any])},
    ),
    "contract.show": Operation(name=Text("This document, as a page"), answers=PAGE),
}
