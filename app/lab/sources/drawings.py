"""The drawings of docs/: each stands once, on a page, in a block of code marked `timeline`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from markdown_it import MarkdownIt

MARK = "timeline"


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
