"""The style sheets' colours, and the contrast of one on another."""

from __future__ import annotations

import re
from pathlib import Path

STATIC = Path(__file__).parents[2] / "app" / "static"


def tokens(*files: str) -> dict[str, tuple[str, str]]:
    """Return the colours by name: (light, dark), which are the same where one serves both."""
    text = "".join((STATIC / file).read_text() for file in files)
    one = r"--([\w-]+): (#\w{6});"
    same = {name: (colour, colour) for name, colour in re.findall(one, text)}
    two = r"--([\w-]+): light-dark\((#\w{6}), (#\w{6})\)"
    return same | {name: (light, dark) for name, light, dark in re.findall(two, text)}


def luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    """Return the contrast, 1 to 21 (WCAG 2.2)."""
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)
