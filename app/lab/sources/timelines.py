"""The drawings of a mode or a recipe in docs/. Tests play every timeline there, or know its origin.

Read from the folder of the clone, which has the only copy; an installation without it has none.
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
    """One drawing. `title` is its heading; for a mode, the finding and its fault."""

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
        """The words in it that are no command, each with its translation."""
        return narrated(self.text)


@dataclass(frozen=True)
class Drawn:
    """A target's timelines. `page` is their file in the project's folder."""

    page: str
    timelines: list[Timeline]
    by_hand: bool = False
    missing: bool = False  # this installation has no docs


def drawn(target: str) -> Drawn:
    """Return the timelines of `mode` or `mode:recipe`; none, and `missing`, without the docs."""
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
    """Return the explorer's shortest schedules in which the mode goes wrong."""
    path = DOCS / "modes.md"
    text = _text(path)
    timelines = [
        Timeline(drawing.text, "", *_caption(drawing.caption))
        for drawing in drawings(text)
        if drawing.name == name
    ]
    return Drawn(_named(path), timelines, missing=not text)


def _caption(text: str) -> tuple[str, str, str]:
    """Split `oversell, no fault (0, 2, 6)` into finding, column, and the cost in brackets."""
    finding, _, outcome = text.partition(", ")
    written, _, cost = outcome.partition(" (")
    column = next(name for name in COLUMNS if name == written)  # a Text, which can be translated
    return finding, column, f"({cost}"


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8") if path.exists() else ""


def _named(path: Path) -> str:
    return path.relative_to(TOP).as_posix()
