"""The design system's words are readable on its backgrounds, in both schemes, on every page.

axe checks this on the pages, but not on a gradient or a drawing, as behind the apple.
"""

from __future__ import annotations

import pytest

from tests.support.colours import contrast, tokens

TEXT, EDGE = 4.5, 3.0  # to 1 (WCAG 2.2: 1.4.3, 1.4.11)
COLOURS = tokens("design.css", "shop/shop.css", "lab/lab.css")
GROUNDS = ("paper", "card", "sunk", "dawn", "grass", "code")
VERDICTS = ("exact", "oversold", "undersold", "inconsistent", "settling", "away")

WORDS = [(ink, ground) for ink in ("ink", "ink-soft") for ground in GROUNDS]
WORDS += [(state, f"{state}-soft") for state in ("good", "warn", "bad", "calm")]
WORDS += [(state, ground) for state in ("good", "warn", "bad") for ground in ("card", "paper")]
WORDS += [("on-strong", ground) for ground in ("apple", "apple-deep", *VERDICTS)]
WORDS += [("on-lit", "lit"), ("ink", "bad-soft"), ("ink", "warn-soft")]


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
@pytest.mark.parametrize(("ink", "ground"), WORDS)
def test_words(ink: str, ground: str, scheme: int) -> None:
    assert contrast(COLOURS[ink][scheme], COLOURS[ground][scheme]) >= TEXT


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
@pytest.mark.parametrize("edge", ["edge", "focus"])
@pytest.mark.parametrize("ground", ["paper", "card", "sunk"])
def test_edges(edge: str, ground: str, scheme: int) -> None:
    assert contrast(COLOURS[edge][scheme], COLOURS[ground][scheme]) >= EDGE
