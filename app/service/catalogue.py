"""What the modes and recipes say of themselves, read from their files' docstrings."""

from __future__ import annotations

import inspect
import re
from dataclasses import dataclass

from app.locks import LOCKS
from app.modes import MODES

# What comes of work that outlives the lease; `lock` leaves that to its recipe.
OUTLIVED = {
    "watched_blind": "BUSY while stock remains",
    "watched": "BUSY while stock remains",
    "fenced": "BUSY while stock remains",
    "decr": "one key to buy twice",
}


@dataclass(frozen=True)
class Entry:
    """One mode or recipe: its title and what its docstring's table says."""

    name: str
    title: str
    how: str
    prevents: str
    breaks: str
    cost: str
    sound: str
    exhibit: bool
    takes_recipe: bool = False
    outlived: str = ""  # what to expect when the work outlives the lease; "": nothing


def modes() -> list[Entry]:
    return [
        _entry(name, mode, mode.exhibit, name == "lock", outlived(name))
        for name, mode in MODES.items()
    ]


def recipes() -> list[Entry]:
    return [
        _entry(name, recipe, recipe.exhibit, outlived=outlived(f"lock:{name}"))
        for name, recipe in LOCKS.items()
    ]


def breaks(mode: str) -> str:
    """How an exhibit breaks: the mode's word, or its recipe's."""
    name, _, recipe = mode.partition(":")
    kind = LOCKS[recipe] if recipe and LOCKS[recipe].exhibit else MODES[name]
    return _entry(name, kind, kind.exhibit).breaks


def outlived(mode: str) -> str:
    """What to expect of a mode, or of its recipe, when the work outlives the lease; "": nothing."""
    name, _, recipe = mode.partition(":")
    if recipe:
        return "oversell" if LOCKS[recipe].outlived else ""
    return OUTLIVED.get(name, "")


def _entry(
    name: str, kind: type, exhibit: bool, takes_recipe: bool = False, outlived: str = ""
) -> Entry:
    text = inspect.getdoc(inspect.getmodule(kind)) or ""
    title = text.partition("\n")[0].partition(": ")[2]
    rows = dict(re.findall(r"^(How|Prevents|Breaks|Cost|Sound) +(.+)$", text, re.MULTILINE))
    return Entry(
        name,
        title,
        rows["How"],
        rows["Prevents"],
        rows["Breaks"],
        rows["Cost"],
        rows["Sound"],
        exhibit,
        takes_recipe,
        outlived,
    )
