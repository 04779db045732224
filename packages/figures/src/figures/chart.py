"""Bars with whiskers as SVG: pieces that the caller combines, in the page's own colours.

A drawing is as wide as its box: horizontal lengths are in %, so no script has to measure. Each kind
of piece has a CSS class, and the page sets its colours. The drawing is hidden from screen readers:
print the same figures next to it as text.
"""

from __future__ import annotations

from collections.abc import Iterable

from figures.scale import Scale
from figures.spread import Spread

CAP = 9  # px of a whisker's end, up and down
RADIUS = 5.5  # px of a dot


def svg(height: int, *pieces: str) -> str:
    """Return a drawing, `height` px high; later pieces lie over earlier ones."""
    inner = "".join(pieces)
    return f'<svg width="100%" height="{height}" aria-hidden="true">{inner}</svg>'


def bar(scale: Scale, value: float, kind: str, top: int, height: int, fill: str = "") -> str:
    """Return a bar from 0, `top` px below the upper edge; `fill` is a pattern, not a colour."""
    painted = f' fill="{fill}"' if fill else ""
    return (
        f'<rect class="{kind}" y="{top}" height="{height}" '
        f'width="{scale.at(value):.2f}%"{painted}/>'
    )


def dot(scale: Scale, value: float, kind: str, middle: int) -> str:
    """Return a dot, for a scale without a zero: there a bar's length would mean nothing."""
    return f'<circle class="{kind}" cx="{scale.at(value):.2f}%" cy="{middle}" r="{RADIUS}"/>'


def whiskers(scale: Scale, of: Spread, middle: int) -> str:
    """Return whiskers from the smallest to the largest value; "" if they are equal.

    Drawn twice: a broad line in the page's colour below keeps them apart from the bar.
    """
    if of.low == of.high:
        return ""
    low, high = scale.at(of.low), scale.at(of.high)
    lines = _line(low, high, middle, middle) + "".join(
        _line(at, at, middle - CAP, middle + CAP) for at in (low, high)
    )
    return f'<g class="whisker halo">{lines}</g><g class="whisker">{lines}</g>'


def upright(scale: Scale, value: float, kind: str, height: int) -> str:
    """Return a line from top to bottom."""
    at = f"{scale.at(value):.2f}%"
    return f'<line class="{kind}" x1="{at}" x2="{at}" y1="0" y2="{height}"/>'


def axis(scale: Scale, ticks: Iterable[float], baseline: int) -> str:
    """Return the ticks' numbers, each below its line."""
    return "".join(
        f'<text class="tick" x="{scale.at(tick):.2f}%" y="{baseline}" text-anchor="middle">'
        f"{tick:,.10g}</text>"
        for tick in ticks
    )


def _line(x1: float, x2: float, y1: int, y2: int) -> str:
    return f'<line x1="{x1:.2f}%" x2="{x2:.2f}%" y1="{y1}" y2="{y2}"/>'
