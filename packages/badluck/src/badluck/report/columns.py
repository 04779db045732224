"""How many columns of a terminal a text takes: two for 苹, none for what is put on a letter."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from unicodedata import category, east_asian_width

FILLER = "\uffff"  # no character: stands for the second column of a wide one while lines are filled
NO_WIDTH = ("Mn", "Me", "Cf")  # marks, and what only says how letters are joined


def columns(text: str) -> int:
    if text.isascii():
        return len(text)
    return sum(
        0 if category(one) in NO_WIDTH else 1 + (east_asian_width(one) in "WF") for one in text
    )


def padded(text: str, wide: int) -> str:
    return text + " " * (wide - columns(text))


def filled(text: str, wide: int) -> Iterator[str]:
    """Lines of so many columns; all but the first stand further in."""
    spread = "".join(one + FILLER * (columns(one) - 1) for one in text)
    for line in textwrap.wrap(spread, wide, subsequent_indent="   ", break_on_hyphens=False):
        yield line.replace(FILLER, "")
