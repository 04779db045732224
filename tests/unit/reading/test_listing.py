"""The functions of a module, and their lines without docstrings and comments."""

from __future__ import annotations

import re

from app.lab.explorer.source_view import lines
from app.service import catalogue


def text(html: str) -> str:
    return re.sub(r"<[^>]+>", "", html)


def test_functions_of_a_module_and_its_classes() -> None:
    assert [one.name for one in catalogue.functions(catalogue.source("app.modes.watch"))] == [
        "sell",
        "attempt",
        "race",
    ]


def test_lines_are_those_of_the_file_without_comments() -> None:
    source = catalogue.source("app.modes.watch").splitlines()
    [race] = [
        one
        for one in catalogue.functions(catalogue.source("app.modes.watch"))
        if one.name == "race"
    ]
    shown = lines(catalogue.source("app.modes.watch"), race)
    assert text(shown[0].html) == "def race(self, pipe: Pipeline, order: Order) -&gt; Sale:"
    assert shown[-1].number == race.last
    for line in shown:
        said = text(line.html).replace("&lt;", "<").replace("&gt;", ">").strip()
        assert said
        assert not said.startswith(("#", '"""'))
        assert source[line.number - 1].strip().startswith(said)
    numbers = {line.number for line in shown}
    left_out = [source[n - 1].strip() for n in range(race.first, race.last) if n not in numbers]
    assert [one for one in left_out if one and not one.startswith(("#", '"""'))] == []
