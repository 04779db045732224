"""Reading the modes and recipes."""

from __future__ import annotations

from typing import Any

from app.domain import UnknownWay
from app.text import Text
from app.web.contract.lab.fields import MODES, SEEN, leads, named
from app.web.contract.parts import Answer, Field, Operation


def side(says: Text, example: str) -> Field:
    return Field(
        says=says, schema={"type": "string", "enum": MODES}, example=example, required=True
    )


READ = {
    "read.index": Operation(
        name=Text("All ways to sell"),
        answers={
            200: Answer(
                says=Text("What each says of itself."),
                json=list[dict[str, Any]],
                html=True,
                links={"first": leads("read.one", Text("The first."), name="0/target")},
            )
        },
    ),
    "read.pair": Operation(
        name=Text("Two side by side: where to"),
        query={
            "left": side(Text("A way to sell, on the left."), "naive"),
            "right": side(Text("A way to sell, on the right."), "watch"),
        },
        answers={303: SEEN},
        problems=(UnknownWay,),
    ),
    "read.one": Operation(
        name=Text("A way to sell, or two"),
        says=Text("Its source, timeline, faults and costs; of two the lines that differ."),
        path={"name": named(Text("`watch`, or `naive...watch` for two."), "watch")},
        answers={200: Answer(says=Text("The page."), json=dict[str, Any], html=True)},
        problems=(UnknownWay,),
    ),
}
