"""What the modes and recipes say of themselves, read from their files' docstrings."""

from __future__ import annotations

import inspect
import re
from dataclasses import dataclass

from app.locks import LOCKS
from app.modes import MODES


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
    outlived: bool = False  # a recipe whose lease the work can outlive


def modes() -> list[Entry]:
    return [
        _entry(name, mode, mode.exhibit, takes_recipe=name == "lock")
        for name, mode in MODES.items()
    ]


def recipes() -> list[Entry]:
    return [
        _entry(name, recipe, recipe.exhibit, outlived=recipe.outlived)
        for name, recipe in LOCKS.items()
    ]


def breaks(mode: str) -> str:
    """How an exhibit breaks: the mode's word, or its recipe's."""
    name, _, recipe = mode.partition(":")
    kind = LOCKS[recipe] if recipe and LOCKS[recipe].exhibit else MODES[name]
    return _entry(name, kind, kind.exhibit).breaks


def _entry(
    name: str, kind: type, exhibit: bool, takes_recipe: bool = False, outlived: bool = False
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
