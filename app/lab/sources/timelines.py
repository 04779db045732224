"""What docs/ draws of a mode or a recipe. Tests play every timeline there, or say who drew it.

Read from the folder of the clone, where they stand once; an installation without it has none.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

from badluck.faults import Faults

from app.explorer.matrix import COLUMNS
from app.lab.sources.drawings import drawings, narrated
from app.lab.sources.source import TOP
from app.modes import Way
from app.text import Text

DOCS = TOP / "docs"
# The heading of a story with a flaw that the recipe itself does not have begins with one of these.
FLAWED = ("As taught: ", "Warned of: ")


@dataclass(frozen=True)
class Timeline:
    """`title` is the heading that it stands under; of a mode: what was found, and with what."""

    text: str
    title: str = ""
    finding: str = ""
    column: str = ""  # of the matrix, a Text
    cost: str = ""  # (faults, switches, steps)

    @property
    def is_flawed(self) -> bool:
        return self.title.startswith(FLAWED)

    @property
    def faults(self) -> Faults:
        return COLUMNS[self.column]

    @property
    def words(self) -> list[tuple[str, Text]]:
        """What stands in it and is no command, with what that says."""
        return narrated(self.text)


@dataclass(frozen=True)
class Drawn:
    """`page` is where they come from, in the project's folder."""

    page: str
    timelines: list[Timeline]
    by_hand: bool = False
    missing: bool = False  # this installation has no docs


def drawn(target: str) -> Drawn:
    """The timelines of `mode` or `mode:recipe`; none, and `missing`, without the docs."""
    selling = Way.of(target)
    return _of_recipe(selling.recipe.name) if selling.recipe else _of_mode(selling.name)


@cache
def _of_recipe(name: str) -> Drawn:
    path = DOCS / "locks" / f"{name}.md"
    text = _text(path)
    timelines = [Timeline(drawing.text, drawing.heading) for drawing in drawings(text)]
    by_hand = "drawn by hand" in " ".join(text.split())
    return Drawn(_named(path), timelines, by_hand, missing=not text)


@cache
def _of_mode(name: str) -> Drawn:
    """The explorer's shortest schedule in which it goes wrong."""
    path = DOCS / "modes.md"
    text = _text(path)
    timelines = [
        Timeline(drawing.text, "", *_caption(drawing.caption))
        for drawing in drawings(text)
        if drawing.name == name
    ]
    return Drawn(_named(path), timelines, missing=not text)


def _caption(text: str) -> tuple[str, str, str]:
    """`oversell, no fault (0, 2, 6)`: the finding, the column, and the cost in its brackets."""
    finding, _, outcome = text.partition(", ")
    written, _, cost = outcome.partition(" (")
    column = next(name for name in COLUMNS if name == written)  # which can be said in any language
    return finding, column, f"({cost}"


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8") if path.exists() else ""


def _named(path: Path) -> str:
    return path.relative_to(TOP).as_posix()
