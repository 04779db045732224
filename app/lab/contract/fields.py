"""What the lab's forms ask for, with the bounds that the services hold them to."""

from __future__ import annotations

from app.domain import (
    ROUND_BOUNDS,
    Bound,
    DatabaseAway,
    Newer,
    StoreAway,
    Unreadable,
    WrongPair,
)
from app.lab import sources as reading
from app.lab.comparison.record import BOUNDS as REPEATS
from app.lab.comparison.record import FEWEST, MOST
from app.lab.round_form import TIMES
from app.lab.stampede.record import BOUNDS as CROWD
from app.server.contract.fields import ITEM
from app.server.contract.parts import Answer, Field, Kind, Link
from app.service import catalogue
from app.text import Text

STORE: tuple[Kind, ...] = (StoreAway, Newer, Unreadable)
BOOKS: tuple[Kind, ...] = (StoreAway, DatabaseAway, WrongPair, Newer, Unreadable)
SEEN = Answer(says=Text("A form: to the page that shows it."), headers=("Location",))
STREAM = Answer(
    says=Text("Server-sent events with ids: a client that was cut off goes on from there."),
    other=("text/event-stream",),
    headers=("X-Accel-Buffering",),
)
OVER = Answer(says=Text("There is nothing more to come: do not ask again."))


def number(says: Text, bound: Bound, example: int, required: bool = False) -> Field:
    schema = {"type": "integer", "minimum": bound.low, "maximum": bound.high}
    return Field(says=says, schema=schema, example=example, required=required)


MODES = list(reading.ways())
MODE = Field(
    says=Text("A way to sell: a mode, or `lock` with its recipe, as in `lock:lease`."),
    schema={"type": "string", "enum": MODES},
    example="atomic",
    required=True,
)
STOCK = number(Text("Units to begin with."), ROUND_BOUNDS["stock"], 100, required=True)
_SAID = {
    "think": (Text("ms between read and write, as if there were work to do."), 0),
    "lease": (Text("ms that a lock lasts."), 10_000),
    "wait": (Text("ms that a buyer waits at the most."), 5_000),
    "attempts": (Text("Tries of one purchase at the most, the first one included."), 64),
    "limit": (Text("Units in one order at the most."), 10),
    "delay": (Text("ms until it opens: customers gather, and nothing is sold."), 0),
}
ROUND_TIMES = {
    name: number(*(_SAID[inner][0], ROUND_BOUNDS[inner], _SAID[inner][1]))
    for name, inner in TIMES.items()
}
ROUND = {
    "item": ITEM,
    "stock": STOCK,
    "mode": MODE,
    "recipe": Field(
        says=Text("The lock's recipe, when the mode is just `lock`."),
        schema={"type": "string", "enum": [recipe.name for recipe in catalogue.recipes()]},
    ),
    **ROUND_TIMES,
}
BUYERS = {
    "buyers": number(Text("Buyers at once."), CROWD["buyers"], 16, required=True),
    "seconds": number(Text("How long they buy."), CROWD["seconds"], 8, required=True),
}
COMPARED = {
    **{"item": ROUND["item"], "stock": STOCK},
    "modes": Field(
        says=Text("The ways to compare, with the reference among them."),
        schema={
            **{"type": "array", "minItems": FEWEST, "maxItems": MOST, "uniqueItems": True},
            "items": {"type": "string", "enum": MODES},
        },
        example=["naive", "watch", "atomic"],
        required=True,
    ),
    "reference": Field(
        says=Text("The way that the others are measured against."),
        schema={"type": "string", "enum": MODES},
        example="naive",
        required=True,
    ),
    **{**ROUND_TIMES, **BUYERS},
    "repeats": number(Text("Runs of each way."), REPEATS["repeats"], 3, required=True),
}


def named(says: Text, example: str) -> Field:
    """A part of a path that is a name, or an id."""
    return Field(says=says, schema={"type": "string"}, example=example, required=True)


def leads(to: str, says: Text, **takes: str) -> Link:
    """To an operation that takes members of the answer's body: by its parameter, where each is."""
    told = {name: f"$response.body#/{member}" for name, member in takes.items()}
    return Link(to=to, says=says, takes=told)
