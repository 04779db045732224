"""Every colour of code is readable on every background, in light and in dark."""

from __future__ import annotations

import pytest

from tests.support.colours import contrast, tokens

AA = 4.5  # to 1, for text of any size (WCAG 2.2, 1.4.3)

COLOURS = tokens("design.css", "lab/read.css")
INKS = ["ink", *(name for name in COLOURS if name.startswith("token-"))]
GROUNDS = ["code", "gone", "come", "gone-word", "come-word", "warn-soft"]


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
@pytest.mark.parametrize("ground", GROUNDS)
@pytest.mark.parametrize("ink", INKS)
def test_contrast(ink: str, ground: str, scheme: int) -> None:
    if ink == "token-comment" and ground not in ("code", "warn-soft"):
        return  # a comment that has changed is written in --ink
    assert contrast(COLOURS[ink][scheme], COLOURS[ground][scheme]) >= AA


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
def test_line_numbers(scheme: int) -> None:
    for ground in ("code", "warn-soft"):
        assert contrast(COLOURS["ink-soft"][scheme], COLOURS[ground][scheme]) >= AA
