"""A stampede's sample has one shape, from the load generator to the page."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_type_hints

import app
from app.lab.stampede.sample import Heard, Sample
from loadtest.feed import Feed, Line


def test_what_the_load_generator_prints_is_what_the_run_hears() -> None:
    assert set(Feed().line(buyers=0)) == set(get_type_hints(Line)) == set(get_type_hints(Heard))


def test_the_page_asks_for_nothing_else() -> None:
    page = Path(app.__file__).parent / "lab" / "stampede" / "run.html"
    asked = set(re.findall(r"\bseen\.(\w+)", page.read_text()))
    assert len(asked) > 9
    assert asked <= set(get_type_hints(Sample))
