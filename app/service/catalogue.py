"""What the modes and recipes say of themselves, read from their files' docstrings."""

from __future__ import annotations

import inspect
import re
from dataclasses import dataclass

from app.locks import LOCKS
from app.modes import MODES
from app.text import Text

# What comes of work that outlives the lease; `lock` leaves that to its recipe.
OUTLIVED = {
    "watched_blind": Text("BUSY while stock remains"),
    "watched": Text("BUSY while stock remains"),
    "fenced": Text("BUSY while stock remains"),
    "fused": Text("BUSY while stock remains"),
    "decr": Text("one key to buy twice"),
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

    @property
    def label(self) -> Text:
        """The title without the warning of an exhibit, for who shows that in another way."""
        return Text(without_warning(self.title))


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
        return Text("oversell") if LOCKS[recipe].outlived else ""
    return OUTLIVED.get(name, "")


def needs(mode: str) -> str:
    """Where a mode, or its recipe, keeps its state: store, masters, database or zookeeper."""
    name, _, recipe = mode.partition(":")
    return LOCKS[recipe].needs if recipe else MODES[name].needs


def _entry(
    name: str, kind: type, exhibit: bool, takes_recipe: bool = False, outlived: str = ""
) -> Entry:
    said = map(Text, described(inspect.getdoc(inspect.getmodule(kind)) or ""))
    title, how, prevents, breaks, cost, sound = said
    return Entry(name, title, how, prevents, breaks, cost, sound, exhibit, takes_recipe, outlived)


def without_warning(title: str) -> str:
    return title.partition(" An exhibit: ")[0]


def described(docstring: str) -> list[str]:
    """The title, and the table's rows in Entry's order, of a mode's or a recipe's docstring.

    Raises KeyError when it has no such table.
    """
    title = docstring.partition("\n")[0].partition(": ")[2]
    rows = dict(re.findall(r"^(\w+) +(.+)$", docstring, re.MULTILINE))
    return [title, *(rows[name] for name in ("How", "Prevents", "Breaks", "Cost", "Sound"))]
