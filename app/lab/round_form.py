"""What the lab's forms ask in the same way: a round's item, mode, stock and times."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from app.domain import ROUND_BOUNDS, Bound, ComparisonIsOn, Invalid, RunIsOn, UnknownItem
from app.server import parse

# Names of a round's times on the wire, where the unit belongs into the name.
TIMES = {"think_ms": "think", "lease_ms": "lease", "wait_ms": "wait"}
TIMES |= {"attempts": "attempts", "limit": "limit", "delay_ms": "delay"}
FIELDS = ("item", "stock", "mode", "recipe", *TIMES)
# Not in a stampede or a comparison, whose buyers have no names, nor where each phone has a ticket.
PER_BUYER = "per_buyer"
HOLD = "hold_ms"  # not there either: a crowd of ours buys, and does not pay
WIRE = {inner: name for name, inner in TIMES.items()} | {"hold": HOLD}


class Asked(NamedTuple):
    """In the order of Rounds.start."""

    item: str
    mode: str
    stock: int
    times: dict[str, int]


def read(values: Mapping[str, object]) -> Asked:
    """Raises Invalid for what is no text or no whole number."""
    mode = parse.text(values, "mode")
    if _names_recipe(values):
        mode = f"{mode}:{parse.text(values, 'recipe')}"
    names = TIMES | {PER_BUYER: PER_BUYER, HOLD: "hold"}
    times = {inner: parse.whole(values, name) for name, inner in names.items() if name in values}
    return Asked(parse.text(values, "item"), mode, parse.whole(values, "stock"), times)


def at_fields(error: Invalid | UnknownItem, values: Mapping[str, object]) -> dict[str, str]:
    """What the services refuse, by the names of the form's fields."""
    errors = error.errors if isinstance(error, Invalid) else {"item": error.sentences()[0]}
    fields = WIRE | ({"mode": "recipe"} if _names_recipe(values) else {})
    return {fields.get(name, name): text for name, text in errors.items()}


class Refused(NamedTuple):
    """Why a form was not accepted, for the page that shows it again."""

    status: int = 200
    errors: Mapping[str, str] = MappingProxyType({})
    run: str = ""  # id of the one that is in the way
    comparison: str = ""  # the same


FINE = Refused()


def refused(
    error: Invalid | UnknownItem | RunIsOn | ComparisonIsOn, values: Mapping[str, object]
) -> Refused:
    if isinstance(error, RunIsOn):
        return Refused(409, run=error.id)
    if isinstance(error, ComparisonIsOn):
        return Refused(409, comparison=error.id)
    return Refused(422, at_fields(error, values))


def limits(bounds: dict[str, Bound]) -> dict[str, tuple[int, int]]:
    return {WIRE.get(name, name): (bound.low, bound.high) for name, bound in bounds.items()}


def round_limits() -> dict[str, tuple[int, int]]:
    return limits(ROUND_BOUNDS)


def _names_recipe(values: Mapping[str, object]) -> bool:
    """Is the recipe a field of its own? Then whatever is wrong with the mode is wrong with it."""
    return values.get("mode") == "lock" and bool(values.get("recipe"))
