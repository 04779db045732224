"""Fields that several forms of the lab have: a round's item, mode, stock and times."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import NamedTuple

from flask import request

from app.domain import ROUND_BOUNDS, Bound, ComparisonIsOn, Invalid, RunIsOn, UnknownItem
from app.lab import sources
from app.server import parse
from app.server.contract.fields import ITEM
from app.server.contract.operation import number, string
from app.service import catalogue
from app.text import Text

# Names of a round's times on the wire, which contain the unit.
TIMES = {"think_ms": "think", "lease_ms": "lease", "wait_ms": "wait"}
TIMES |= {"attempts": "attempts", "limit": "limit", "delay_ms": "delay"}
# Not in a stampede or a comparison, where buyers have no names, nor where each phone has a ticket.
PER_BUYER = "per_buyer"
HOLD = "hold_ms"  # not there either: a crowd of ours buys, and does not pay
WIRE = {inner: name for name, inner in TIMES.items()} | {"hold": HOLD}
MODES = [*sources.ways()]
MODE = string(
    Text("A way to sell: a mode, or `lock` with its recipe, as in `lock:lease`."),
    *("atomic", MODES),
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
TIMES_ASKED = {
    name: number(_SAID[inner][0], ROUND_BOUNDS[inner], _SAID[inner][1])
    for name, inner in TIMES.items()
}
ROUND = {
    **{"item": ITEM, "stock": STOCK, "mode": MODE},
    "recipe": string(
        Text("The lock's recipe, when the mode is just `lock`."),
        among=[recipe.name for recipe in catalogue.recipes()],
    ),
    **TIMES_ASKED,
}


class RoundInput(NamedTuple):
    """A round's fields, in the order of Rounds.start's parameters."""

    item: str
    mode: str
    stock: int
    times: dict[str, int]


def linked(names: Iterable[str]) -> dict[str, str]:
    """Return the fields that a link fills in: "start another like it"."""
    return {name: request.args[name] for name in names if name in request.args}


def read(values: Mapping[str, object]) -> RoundInput:
    """Read the form. Raises Invalid for a value that is no text or no whole number."""
    mode = parse.text(values, "mode")
    if _names_recipe(values):
        mode = f"{mode}:{parse.text(values, 'recipe')}"
    names = TIMES | {PER_BUYER: PER_BUYER, HOLD: "hold"}
    times = {inner: parse.whole(values, name) for name, inner in names.items() if name in values}
    return RoundInput(parse.text(values, "item"), mode, parse.whole(values, "stock"), times)


def at_fields(error: Invalid | UnknownItem, values: Mapping[str, object]) -> dict[str, str]:
    """Return the services' errors by the names of the form's fields."""
    errors = error.errors if isinstance(error, Invalid) else {"item": error.sentences()[0]}
    fields = WIRE | ({"mode": "recipe"} if _names_recipe(values) else {})
    return {fields.get(name, name): text for name, text in errors.items()}


class FormErrors(NamedTuple):
    """The errors of a form that was not accepted, for the page that shows it again."""

    status: int = 200
    errors: Mapping[str, str] = MappingProxyType({})
    run: str = ""  # id of the run that is in the way
    comparison: str = ""  # the same


FINE = FormErrors()


def refused(
    error: Invalid | UnknownItem | RunIsOn | ComparisonIsOn, values: Mapping[str, object]
) -> FormErrors:
    if isinstance(error, RunIsOn):
        return FormErrors(409, run=error.id)
    if isinstance(error, ComparisonIsOn):
        return FormErrors(409, comparison=error.id)
    return FormErrors(422, at_fields(error, values))


def limits(bounds: dict[str, Bound]) -> dict[str, tuple[int, int]]:
    return {WIRE.get(name, name): (bound.low, bound.high) for name, bound in bounds.items()}


def round_limits() -> dict[str, tuple[int, int]]:
    return limits(ROUND_BOUNDS)


def _names_recipe(values: Mapping[str, object]) -> bool:
    """Return whether the recipe is a field of its own: an error of the mode is then shown there."""
    return values.get("mode") == "lock" and bool(values.get("recipe"))
