"""The drawings of docs/, and the words in them for readers of another language than English.

Each drawing stands once, on a page, in a block of code marked `timeline`. It stays as it is: tests
play it, and its columns would not bear longer words.
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
# Between tildes stands what happens to all; in brackets, in a line of its own, what one does or is
# told, and a reply that is no value.
NOTES = re.compile(rf"~ (.+?) ~|(?:  |-> )\((?!nil)([a-z][^)]+)\)|({BEFALLS}|= told \w+)")


class Drawing(NamedTuple):
    """What stands in ```timeline name```, and above it."""

    name: str
    text: str
    heading: str  # the nearest, of whatever level
    caption: str  # the paragraph before it


def drawings(page: str) -> Iterator[Drawing]:
    """All of a page, in Markdown, from top to bottom."""
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
    """What stands there and is neither a command nor a value; each once, in order."""
    return list(dict.fromkeys("".join(note) for note in NOTES.findall(drawing)))


def narrated(drawing: str) -> list[tuple[str, Text]]:
    """Its columns' names and its notes, each with what it says."""
    heads = re.findall(r"[a-z]+", drawing.partition("\n")[0])
    known = {name: HEADS[name] for name in heads if name in HEADS}
    return list((known | {note: Text(note) for note in notes(drawing)}).items())


def extract(source: IO[bytes], *_words: Any, **_options: Any) -> Iterator[Any]:
    """Yield (line, function, text, comments) of each note: a Babel extractor (pyproject.toml)."""
    for drawing in drawings(source.read().decode()):
        for note in notes(drawing.text):
            yield 1, None, note, []
