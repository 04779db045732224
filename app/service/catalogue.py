"""What the modes and recipes say of themselves, read from their files' docstrings."""

from __future__ import annotations

import inspect
import re
from dataclasses import dataclass, replace

from app.domain import ROUND_BOUNDS
from app.locks import LOCKS
from app.locks.handle import Handle
from app.modes import MODES, Mode
from app.store import units
from app.text import Text


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
    taught: str  # what the tutorials say of it, and what is wrong in that
    exhibit: bool
    takes_recipe: bool = False
    outlived: str = ""  # what to expect when the work outlives the lease; "": nothing
    most: int = ROUND_BOUNDS["stock"].high  # units that a round of it may begin with

    @property
    def label(self) -> Text:
        """The title without the warning of an exhibit, for pages that show that in another way."""
        return Text(without_warning(self.title))


def modes() -> list[Entry]:
    """All, in teaching order."""
    return [
        replace(_entry(mode, outlived(name), name == "lock"), most=most_stock(name))
        for name, mode in MODES.items()
    ]


def recipes() -> list[Entry]:
    """All, in teaching order."""
    return [_entry(recipe, outlived(f"lock:{name}")) for name, recipe in LOCKS.items()]


def breaks(mode: str) -> str:
    """How an exhibit breaks: the mode's word, or its recipe's."""
    name, _, recipe = mode.partition(":")
    kind = LOCKS[recipe] if recipe and LOCKS[recipe].exhibit else MODES[name]
    return _entry(kind).breaks


def outlived(mode: str) -> str:
    """What to expect of a mode, or of its recipe, when the work outlives the lease; "": nothing."""
    name, _, recipe = mode.partition(":")
    if recipe:
        return Text("oversell") if LOCKS[recipe].outlived else ""
    return MODES[name].outlived


def needs(mode: str) -> str:
    """Where a mode, or its recipe, keeps its state: store, masters, database, rows or zookeeper."""
    return _kind(mode).needs


def most_stock(mode: str) -> int:
    """Units that a round of this mode may begin with: fewer where each is a row."""
    return units.MOST if in_rows(mode) else ROUND_BOUNDS["stock"].high


def in_rows(mode: str) -> bool:
    """Is each unit of its stock a row in the database?"""
    return needs(mode) == "rows"


def tutorials(mode: str) -> tuple[int, ...]:
    """The numbers of those that teach a mode, or its recipe.

    1 a sale with WATCH, then with a hand-made lock; 2 a lock to be used again, for Jedis; 3 a lock
    with a watchdog; 4 SETNX with the time of its end, GETSET to take over; 5 how a lock is built.
    """
    return _kind(mode).tutorials


def _kind(mode: str) -> type[Mode] | type[Handle]:
    name, _, recipe = mode.partition(":")
    return LOCKS[recipe] if recipe else MODES[name]


def _entry(
    kind: type[Mode] | type[Handle], outlived: str = "", takes_recipe: bool = False
) -> Entry:
    said = map(Text, described(inspect.getdoc(inspect.getmodule(kind)) or ""))
    title, how, prevents, breaks, cost, sound, taught = said
    row = (how, prevents, breaks, cost, sound, taught)
    return Entry(kind.name, title, *row, kind.exhibit, takes_recipe, outlived)


def without_warning(title: str) -> str:
    """The title of an exhibit, as that of a sound one."""
    return title.partition(" An exhibit: ")[0]


def described(docstring: str) -> list[str]:
    """The title, and the table's rows in Entry's order, of a mode's or a recipe's docstring.

    Of a row its first line, which can be read alone; of the last one all. Raises KeyError when it
    has no such table.
    """
    title = docstring.partition("\n")[0].partition(": ")[2]
    rows = dict(re.findall(r"^(\w+) +(.+(?:\n +.+)*)", docstring, re.MULTILINE))
    short = (
        rows[name].partition("\n")[0] for name in ("How", "Prevents", "Breaks", "Cost", "Sound")
    )
    return [title, *short, " ".join(rows["Taught"].split())]
