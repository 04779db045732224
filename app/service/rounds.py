"""Start, end and describe rounds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from app.domain import (
    ITEMS,
    ROUND_BOUNDS,
    Invalid,
    Item,
    NotOnSale,
    Round,
    UnknownItem,
    UnknownRound,
)
from app.locks import DEFAULT, LOCKS
from app.modes import MODES
from app.service import catalogue
from app.store import rounds as records
from app.store.redis import answering
from app.store.servers import Servers


class Rounds:
    """The instructor's hand on the store."""

    def __init__(self, servers: Servers) -> None:
        self.servers = servers
        self.store = servers.store

    def start(self, item: str, mode: str, stock: int, times: Mapping[str, Any]) -> Round:
        """Begin a round, ending the item's running one. `times` sets any of ROUND_BOUNDS.

        Raises UnknownItem, Invalid with a sentence for each field that is wrong, StoreAway.
        """
        _check_item(item)
        errors = _out_of_bounds({"stock": stock, **times})
        try:
            mode = full_name(mode)
            if missing := self.missing(mode):
                errors["mode"] = missing
        except Invalid as invalid:
            errors |= invalid.errors
        if errors:
            raise Invalid(errors)
        with answering():
            return records.start(self.store, replace(Round(item, 0, stock, mode), **times))

    def missing(self, mode: str) -> str:
        """What a mode, or its recipe, needs and does not have here; "" when nothing."""
        name, _, recipe = mode.partition(":")
        needs = {MODES[name].needs, LOCKS[recipe].needs if recipe else "store"}
        return " ".join(filter(None, map(self.servers.missing, sorted(needs))))

    def end(self, item: str) -> Round:
        """Raises UnknownItem, NotOnSale when none runs, StoreAway."""
        _check_item(item)
        with answering():
            ended = records.end(self.store, item)
        if ended is None:
            raise NotOnSale(f"No round of {item!r} is running.")
        return ended

    def newest(self, item: str) -> Round | None:
        """The item's newest round, running or ended. Raises StoreAway."""
        with answering():
            return records.newest(self.store, item)

    def find(self, item: str, number: int | None = None) -> Round:
        """One round, the newest unless `number` says. Raises UnknownRound, StoreAway."""
        with answering():
            if number is None:
                found = records.newest(self.store, item)
            else:
                found = records.find(self.store, item, number)
        if found is None:
            which = "any round" if number is None else f"a round {number}"
            raise UnknownRound(f"{item!r} never had {which}.")
        return found

    def left(self, round: Round) -> int | None:
        """Units left in stock. Raises StoreAway."""
        with answering():
            return records.left(self.store, round)

    def shelf(self) -> list[tuple[Item, Round | None, int | None]]:
        """Every item with its newest round and the units left in it. Raises StoreAway."""
        with answering():
            return records.shelf(self.store)

    def open_shop(self, mode: str) -> list[Round]:
        """Start a first round of every item that never had one; leave the others as they are.

        Raises Invalid for a mode that is unknown or an exhibit.
        """
        check_default(mode)
        return [
            self.start(item.slug, mode, item.stock, {})
            for item in ITEMS.values()
            if self.newest(item.slug) is None
        ]


def _check_item(item: str) -> None:
    if item not in ITEMS:
        raise UnknownItem(f"There is no item {item!r}. There are {', '.join(ITEMS)}.")


def full_name(mode: str) -> str:
    """`lock` -> `lock:lease`. Raises Invalid for a mode or a recipe that we do not have."""
    name, colon, recipe = mode.partition(":")
    if name not in MODES:
        raise Invalid({"mode": f"There is no mode {name!r}. There are {', '.join(MODES)}."})
    if name != "lock":
        if colon:
            raise Invalid({"mode": f"Mode {name!r} takes no lock recipe."})
        return name
    recipe = recipe or DEFAULT
    if recipe not in LOCKS:
        raise Invalid({"mode": f"There is no recipe {recipe!r}. There are {', '.join(LOCKS)}."})
    return f"{name}:{recipe}"


def check_default(mode: str) -> None:
    """Raises Invalid for a mode that we would not sell with unless asked to."""
    if is_exhibit(full_name(mode)):
        raise Invalid({"mode": f"DEFAULT_MODE is {mode}, which is broken on purpose."})


def is_exhibit(mode: str) -> bool:
    """Is this mode, or its recipe, broken on purpose?"""
    name, _, recipe = mode.partition(":")
    return MODES[name].exhibit or bool(recipe and LOCKS[recipe].exhibit)


def warnings(round: Round) -> list[str]:
    """What an instructor should know before the class finds out."""
    said = []
    if is_exhibit(round.mode):
        said.append(f"{round.mode} is broken on purpose: {catalogue.breaks(round.mode)}.")
    if round.recipe and LOCKS[round.recipe].outlived and round.think >= round.lease:
        said.append(
            f"The work ({round.think / 1000:g} s of thinking) will outlive the lease "
            f"({round.lease / 1000:g} s): expect oversell."
        )
    if round.mode == "atomic" and round.think:
        said.append("Think time does nothing here: a script has no gap to think in.")
    return said


def _out_of_bounds(values: Mapping[str, int]) -> dict[str, str]:
    errors = {}
    for name, value in values.items():
        bound = ROUND_BOUNDS.get(name)
        if bound is None:
            errors[name] = f"A round has no {name!r}. It has {', '.join(ROUND_BOUNDS)}."
        elif not bound.low <= value <= bound.high:
            errors[name] = (
                f"{name.capitalize()} must be from {bound.low} to {bound.high:,} {bound.unit}."
            )
    return errors
