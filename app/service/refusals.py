"""The errors with which shop and lab refuse a purchase or a round; each sentence once."""

from __future__ import annotations

from collections.abc import Mapping

from app.domain import (
    ITEMS,
    ROUND_BOUNDS,
    Bound,
    Invalid,
    NotOnSale,
    Round,
    UnknownItem,
    UnknownRound,
)
from app.domain.fault_words import FAULT_WORDS
from app.locks import LOCKS
from app.modes import MODES
from app.text import Text, instead, together

FIELDS = {
    "item": Text("Item"),
    "quantity": Text("Quantity"),
    "buyer": Text("Buyer"),
    "key": Text("Key"),
    "mode": Text("Mode"),
    "recipe": Text("Recipe"),
    "stock": Text("Stock"),
    "think": Text("Think"),
    "lease": Text("Lease"),
    "wait": Text("Wait"),
    "attempts": Text("Attempts"),
    "limit": Text("Limit"),
    "per_buyer": Text("Limit of a buyer"),
    "delay": Text("Delay"),
    "hold": Text("Hold"),
    "buyers": Text("Buyers"),
    "seconds": Text("Seconds"),
    "modes": Text("Ways to sell"),
    "reference": Text("Reference"),
    "repeats": Text("Repeats"),
    **{kind: words.field for kind, words in FAULT_WORDS.items()},
}


def called(field: str) -> str:
    """Return a field's name in a sentence; the wire's names of times end in their unit."""
    name = field.removesuffix("_ms")
    return FIELDS.get(name, name.capitalize())


def require_item(item: str) -> str:
    """Return the item if it exists. Raises UnknownItem."""
    if item not in ITEMS:
        unknown = Text("There is no item %(item)s.", item=repr(item))
        raise UnknownItem(together(unknown, instead(item, ITEMS)))
    return item


def no_round(item: str, number: int | None) -> UnknownRound:
    """Return the error; `number` None: no number was given."""
    name = repr(item)
    if number is None:
        return UnknownRound(Text("There has been no round of %(item)s yet.", item=name))
    return UnknownRound(
        Text("%(item)s never had a round %(number)s.", item=name, number=str(number))
    )


def not_running(item: str) -> NotOnSale:
    return NotOnSale(Text("No round of %(item)s is running.", item=repr(item)))


def nameless(round: Round) -> Invalid:
    """Refuse a buyer without a cookie: each press would count as another buyer."""
    who = Text(
        "One buyer gets %(most)s at most, so say who you are: ask for / once, and send the cookie "
        "that comes with it.",
        most=round.per_buyer,
    )
    return Invalid({"buyer": who})


def no_mode(mode: str) -> Text:
    return together(Text("There is no mode %(mode)s.", mode=repr(mode)), instead(mode, MODES))


def no_recipe(recipe: str) -> Text:
    unknown = Text("There is no recipe %(recipe)s.", recipe=repr(recipe))
    return together(unknown, instead(recipe, LOCKS))


def takes_no_recipe(mode: str) -> Text:
    return Text("Mode %(mode)s takes no lock recipe.", mode=repr(mode))


def no_field(field: str) -> Text:
    known = list(ROUND_BOUNDS)
    return Text("A round has no %(field)s. It has %(known)s.", field=repr(field), known=known)


def out_of_bounds(field: str, bound: Bound) -> Text:
    return Text(
        "%(field)s must be from %(low)s to %(high)s %(unit)s.",
        field=called(field),
        low=bound.low,
        high=bound.high,
        unit=bound.unit,
    )


def outside(bounds: Mapping[str, Bound], values: Mapping[str, int]) -> dict[str, str]:
    """Return a sentence for each value that is out of its bounds, by field."""
    return {
        name: out_of_bounds(name, bound)
        for name, bound in bounds.items()
        if not bound.low <= values[name] <= bound.high
    }


def too_many_rows(mode: str, most: int) -> Text:
    return Text("%(mode)s has a row for each unit: %(most)s are the most.", mode=mode, most=most)


def not_from_to(field: str, low: int, high: int) -> Text:
    """Refuse a value of a field whose name contains its unit."""
    return Text(
        "%(field)s must be from %(low)s to %(high)s.", field=called(field), low=low, high=high
    )
