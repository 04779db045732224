"""The catalogue of modes and recipes: what their docstrings say, and which can be sold here."""

from __future__ import annotations

import ast
import inspect
import re
import sys
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import NamedTuple

from app.domain import ITEMS, ROUND_BOUNDS, Invalid, Newer, Round, Unreadable
from app.domain.selling import SOLD_BY_NEWER, WayName
from app.locks import DEFAULT, LOCKS
from app.locks.handle import Handle
from app.modes import MODES, Mode, Way
from app.service.refusals import no_mode, no_recipe, takes_no_recipe
from app.store.servers import Servers
from app.text import Text


@dataclass(frozen=True)
class CatalogueEntry:
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
        """The title without an exhibit's warning, for pages that mark exhibits in another way."""
        return Text(without_warning(self.title))


def modes() -> list[CatalogueEntry]:
    """Return all modes in teaching order."""
    return [
        replace(_entry(mode, outlived(Way(mode)), name == "lock"), most=most_stock(Way(mode)))
        for name, mode in MODES.items()
    ]


def recipes() -> list[CatalogueEntry]:
    """Return all recipes in teaching order."""
    return [_entry(recipe, outlived(Way(MODES["lock"], recipe))) for recipe in LOCKS.values()]


def parse_way(name: str) -> Way:
    """Parse a name given by a user; `lock` means `lock:lease`. Raises Invalid for unknown parts."""
    mode, recipe = WayName.parse(name)
    if mode not in MODES:
        raise Invalid({"mode": no_mode(mode)})
    if mode != "lock":
        if name != mode:
            raise Invalid({"mode": takes_no_recipe(mode)})
        return Way(MODES[mode])
    recipe = recipe or DEFAULT
    if recipe not in LOCKS:
        raise Invalid({"mode": no_recipe(recipe)})
    return Way(MODES[mode], LOCKS[recipe])


def require_supported(round: Round) -> Round:
    """Return the round. Raises Newer when only a newer version of the shop can sell or show it."""
    if round.item not in ITEMS or not Way.exists(round.mode):
        raise Newer(SOLD_BY_NEWER)
    return round


def readable(round: Round | Unreadable | None) -> Round | Unreadable | None:
    """Return the round, or the error that says why it cannot be read here."""
    try:
        return require_supported(round) if isinstance(round, Round) else round
    except Newer as error:
        return error


def unfit(servers: Servers, round: Round) -> str:
    """Return why this host can sell nothing of a running round; "" if it can.

    It may lack what the mode needs, or know other masters than the round's.
    """
    why = servers.missing(Way.of(round.mode).needs)
    if not why and round.masters:
        why = servers.known_masters.mismatch(round.masters)
    return why and Text("This host cannot sell in %(mode)s: %(why)s", mode=round.mode, why=why)


def breaks(way: Way) -> str:
    """Return how an exhibit breaks: the mode's sentence, or its recipe's."""
    return _entry(way.recipe if way.recipe and way.recipe.exhibit else way.mode).breaks


def outlived(way: Way) -> str:
    """Return what to expect when the work outlives the lease; "": nothing."""
    if way.recipe:
        return Text("oversell") if way.recipe.outlived else ""
    return way.mode.outlived


def most_stock(way: Way) -> int:
    """Return how many units a round may begin with: fewer where each unit is a row."""
    if not way.in_rows:
        return ROUND_BOUNDS["stock"].high
    from app.store.sql import units  # SQLAlchemy takes longer to load than all else

    return units.MOST


def _entry(
    kind: type[Mode] | type[Handle], outlived: str = "", takes_recipe: bool = False
) -> CatalogueEntry:
    facts = map(Text, described(inspect.getdoc(inspect.getmodule(kind)) or ""))
    title, how, prevents, breaks, cost, sound, taught = facts
    row = (how, prevents, breaks, cost, sound, taught)
    return CatalogueEntry(kind.name, title, *row, kind.exhibit, takes_recipe, outlived)


def without_warning(title: str) -> str:
    """Return an exhibit's title without its warning, like that of a sound mode."""
    return title.partition(" An exhibit: ")[0]


def described(docstring: str) -> list[str]:
    """Read the title and the table's rows, as CatalogueEntry has them, from a docstring.

    Takes the first line of each row, which can be read alone, and all lines of the last row. Raises
    KeyError when the docstring has no such table.
    """
    title = docstring.partition("\n")[0].partition(": ")[2]
    rows = dict(re.findall(r"^(\w+) +(.+(?:\n +.+)*)", docstring, re.MULTILINE))
    short = (
        rows[name].partition("\n")[0] for name in ("How", "Prevents", "Breaks", "Cost", "Sound")
    )
    return [title, *short, " ".join(rows["Taught"].split())]


def source(module: str) -> str:
    """Return the source of a loaded module of app.modes, app.locks or fairlock."""
    return inspect.getsource(sys.modules[module])


class Function(NamedTuple):
    """A function's place in its module; the first line is 1."""

    name: str
    first: int
    last: int
    indent: int  # of its first line


@lru_cache(200)  # a user's own file may differ at each call
def functions(text: str) -> tuple[Function, ...]:
    """Return all functions of a source and of its classes, in the source's order."""
    plain = (ast.FunctionDef, ast.AsyncFunctionDef)
    nodes: list[ast.FunctionDef | ast.AsyncFunctionDef] = []
    for node in ast.parse(text).body:
        inner = node.body if isinstance(node, ast.ClassDef) else [node]
        nodes += [each for each in inner if isinstance(each, plain)]
    return tuple(
        Function(node.name, node.lineno, node.end_lineno or node.lineno, node.col_offset)
        for node in nodes
    )


def module_of(mode: str) -> str:
    """Return the name of the module of `mode`, or of the recipe in `mode:recipe`."""
    return Way.of(mode).mode.__module__


def promises(mode: str) -> list[CatalogueEntry]:
    """Return the entries of the mode and of its recipe."""
    seller = Way.of(mode)
    entries = [entry for entry in modes() if entry.name == seller.mode.name]
    recipe = seller.recipe and seller.recipe.name
    return entries + [entry for entry in recipes() if entry.name == recipe]
