"""What of another version's we can sell, and show: rounds whose item, mode and recipe are ours."""

from __future__ import annotations

from app.domain import ITEMS, Newer, Round, Unreadable
from app.domain.selling import SOLD_BY_NEWER
from app.locks import LOCKS
from app.modes import MODES


def known(round: Round) -> Round:
    """The round. Raises Newer when it is one that only a newer version of us can sell."""
    if round.item not in ITEMS or not has(round.mode):
        raise Newer(SOLD_BY_NEWER)
    return round


def has(mode: str) -> bool:
    """Is this way of selling, `mode` or `mode:recipe`, one of ours?"""
    name, _, recipe = mode.partition(":")
    return name in MODES and (not recipe or recipe in LOCKS)


def readable(round: Round | Unreadable | None) -> Round | Unreadable | None:
    """The round, or why it cannot be read here."""
    try:
        return known(round) if isinstance(round, Round) else round
    except Newer as error:
        return error
