"""The drawings of docs/: those of a mode or a recipe, and their words in other languages.

Each drawing exists once, on a page, in a block of code marked `timeline`. It is never translated in
place: tests play it or know its origin, and its columns have no room for longer words. Only the
clone has the folder; an installation without it shows none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import IO, Any, NamedTuple

from badluck.faults import FAULTS, Faults
from markdown_it import MarkdownIt

from app.explorer.matrix import COLUMNS
from app.lab.sources.source import TOP
from app.modes import Way
from app.text import Text

MARK = "timeline"
HEADS = {
    "buyer": Text("buyer"),
    "stock": Text("stock"),
    "lock": Text("lock"),
    "line": Text("the line of who waits"),
    "fence": Text("the holder’s number"),
}
BEFALLS = "|".join(re.escape(fault.drawn) for fault in FAULTS.values())
# An event between tildes concerns all actors. In brackets, in a line of its own, is an action of
# one actor, or a reply that is no value.
NOTES = re.compile(rf"~ (.+?) ~|(?:  |-> )\((?!nil)([a-z][^)]+)\)|({BEFALLS}|= told \w+)")


class Drawing(NamedTuple):
    """The text in ```timeline name```, and the heading and paragraph above it."""

    name: str
    text: str
    heading: str  # the nearest, of any level
    caption: str  # the paragraph before it


def drawings(page: str) -> Iterator[Drawing]:
    """Yield all drawings of a page in Markdown, from top to bottom."""
    heading = caption = opened = ""
    for token in MarkdownIt().parse(page):
        match token.type:
            case "heading_open" | "paragraph_open":
                opened = token.type
            case "inline" if opened == "heading_open":
                heading = token.content
            case "inline":
                caption = token.content
            case "fence" if token.info.startswith(f"{MARK} "):
                yield Drawing(token.info.removeprefix(f"{MARK} "), token.content, heading, caption)


def notes(drawing: str) -> list[str]:
    """Return the notes in a drawing that are neither commands nor values; each once, in order."""
    return list(dict.fromkeys("".join(note) for note in NOTES.findall(drawing)))


def narrated(drawing: str) -> list[tuple[str, Text]]:
    """Return the names of its columns and its notes, each with its translation."""
    heads = re.findall(r"[a-z]+", drawing.partition("\n")[0])
    known = {name: HEADS[name] for name in heads if name in HEADS}
    return list((known | {note: Text(note) for note in notes(drawing)}).items())


def extract(source: IO[bytes], *_words: Any, **_options: Any) -> Iterator[Any]:
    """Yield (line, function, text, comments) of each note: a Babel extractor (pyproject.toml)."""
    for drawing in drawings(source.read().decode()):
        for note in notes(drawing.text):
            yield 1, None, note, []


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
    """Return the timelines of `mode` or `mode:recipe`.

    If the docs are not there, return none and set `missing`.
    """
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
