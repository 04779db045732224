"""The drawings of docs/, and their words for readers of another language than English.

Each drawing exists once, on a page, in a block of code marked `timeline`. It is never translated in
place: tests play it, and its columns have no room for longer words.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import IO, Any, NamedTuple

from badluck.faults import FAULTS
from markdown_it import MarkdownIt

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
