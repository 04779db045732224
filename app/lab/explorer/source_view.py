"""The source next to a schedule: which of its functions are shown, and which lines are lit."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

from app.service import catalogue
from app.service.catalogue import Function

PREFIX = "py-"  # of the classes
ASIDE = re.compile(rf' *<span class="{PREFIX}(?:c1|sd)">[^<]*</span>')  # comments and docstrings
JOINT = re.compile(rf'<span class="{PREFIX}[op]">[.(]</span>')  # where a long name may be broken
PLAIN = re.compile(rf'<span class="{PREFIX}(?:n|o|p|bp|nb|w)">([^<]*)</span>')  # without a colour
TAG = re.compile(r"<[^>]+>")
INDENT = re.compile(r"^ +")  # half as wide in a narrow column


class Line(NamedTuple):
    number: int  # in its file, from 1
    html: str


@lru_cache(500)
def lines(source: str, function: Function) -> list[Line]:
    """Return the lines of one function that do something, escaped for HTML."""
    return [
        Line(number, _shown(html, function.indent))
        for number, html in enumerate(_coloured(source), 1)
        if function.first <= number <= function.last and TAG.sub("", html).strip()
    ]


@lru_cache(100)
def _coloured(source: str) -> list[str]:
    # stripnl: an empty line at the beginning counts as a line, too.
    lexer = PythonLexer(stripnl=False)
    text: str = highlight(source, lexer, HtmlFormatter(nowrap=True, classprefix=PREFIX))
    return ASIDE.sub("", text).split("\n")


def _shown(line: str, indent: int) -> str:
    """Return a line without the function's own indentation."""
    line = PLAIN.sub(r"\1", JOINT.sub(r"\g<0><wbr>", line))
    return INDENT.sub(r'<span class="indent">\g<0></span>', line[indent:])


Places = Sequence[Mapping[str, Any]]  # as badluck/game/play.py returns them
Spots = dict[str, list[str]]  # each as `module:line`


Marks = Mapping[str, tuple[str, str]]  # lit spot -> `now` or `did`, and the buyer


class ShownSource(NamedTuple):
    """One function, as it is shown."""

    module: str
    lines: list[Line]

    @property
    def path(self) -> str:
        return f"{self.module.replace('.', '/')}.py"

    def lit(self, marks: Marks) -> bool:
        """Whether a buyer is in it; if no buyer is anywhere, whether one was in it at its end."""
        mine = {kind for spot, (kind, _) in marks.items() if spot in self.spots}
        return "now" in mine or ("now" not in dict(marks.values()) and bool(mine))

    @property
    def spots(self) -> set[str]:
        return {f"{self.module}:{line.number}" for line in self.lines}


def sources(target: str, places: Places, own: str | None) -> list[ShownSource]:
    """Return the functions in which a buyer is at any time; the mode's own first.

    `own` is the source of the user's own code, if that is shown.
    """
    stood: dict[str, set[int]] = {catalogue.module_of(target): set()} if own is None else {}
    for place in places:
        for buyer in place["actors"]:
            for wait in buyer["waits"]:
                for module, line in wait["spots"]:
                    stood.setdefault(module, set()).add(line)
    texts = {module: catalogue.source(module) if own is None else own for module in stood}
    return [
        ShownSource(module, lines(texts[module], function))
        for module, at in stood.items()
        for function in catalogue.functions(texts[module])
        if any(function.first <= line <= function.last for line in at)
    ]


def lit(places: Places) -> list[dict[str, Spots]]:
    """Return, for each place and buyer, the lines where it is `now` and that it just `did`.

    A buyer at its end stays at its last step.
    """
    spots_by_place: list[dict[str, Spots]] = []
    last: dict[str, list[str]] = {}
    before: dict[str, Any] = {}
    for place in places:
        step = place["step"] or {"actor": "", "fiber": 0}
        spots_by_place.append({})
        for buyer in place["actors"]:
            now = [_spot(spot) for wait in buyer["waits"] for spot in wait["spots"]]
            did = [
                _spot(spot)
                for wait in before.get(buyer["name"], [])
                if (buyer["name"], wait["fiber"]) == (step["actor"], step["fiber"])
                for spot in wait["spots"]
            ]
            last[buyer["name"]] = did or last.get(buyer["name"], [])
            if not buyer["waits"]:
                did = last[buyer["name"]]
            spots_by_place[-1][buyer["name"]] = {"now": now, "did": did}
        before = {buyer["name"]: buyer["waits"] for buyer in place["actors"]}
    return spots_by_place


def _spot(spot: Sequence[Any]) -> str:
    return f"{spot[0]}:{spot[1]}"


def marked(place: Mapping[str, Spots]) -> Marks:
    """Return the lit lines at one place."""
    marks: dict[str, tuple[str, str]] = {}
    for kind in ("did", "now"):
        for spot in {spot for spots in place.values() for spot in spots[kind]}:
            who = [name for name, spots in place.items() if spot in spots[kind]]
            marks[spot] = kind, " ".join(who)
    return marks
