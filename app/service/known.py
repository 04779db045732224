"""What of another version's we can sell, and show: rounds whose item, mode and recipe are ours."""

from __future__ import annotations

from app.domain import ITEMS, Invalid, Newer, Round, Unreadable
from app.domain.selling import SOLD_BY_NEWER
from app.locks import DEFAULT, LOCKS
from app.modes import MODES
from app.service.refusals import no_mode, no_recipe, takes_no_recipe


def known(round: Round) -> Round:
    """The round. Raises Newer when it is one that only a newer version of us can sell."""
    if round.item not in ITEMS or not has(round.mode):
        raise Newer(SOLD_BY_NEWER)
    return round


def has(mode: str) -> bool:
    """Is this way of selling, `mode` or `mode:recipe`, one of ours?"""
    name, _, recipe = mode.partition(":")
    return name in MODES and (not recipe or recipe in LOCKS)


def full_name(mode: str) -> str:
    """`lock` -> `lock:lease`. Raises Invalid for a mode or a recipe that we do not have."""
    name, colon, recipe = mode.partition(":")
    if name not in MODES:
        raise Invalid({"mode": no_mode(name)})
    if name != "lock":
        if colon:
            raise Invalid({"mode": takes_no_recipe(name)})
        return name
    recipe = recipe or DEFAULT
    if recipe not in LOCKS:
        raise Invalid({"mode": no_recipe(recipe)})
    return f"{name}:{recipe}"


def readable(round: Round | Unreadable | None) -> Round | Unreadable | None:
    """The round, or why it cannot be read here."""
    try:
        return known(round) if isinstance(round, Round) else round
    except Newer as error:
        return error
