"""All that the lab shows of one mode or recipe, or of two next to each other."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher, ndiff
from functools import cache, lru_cache
from pathlib import Path
from typing import NamedTuple

from app.domain import UnknownWay
from app.lab.sources.highlight import Line
from app.lab.sources.matrix_rows import Matrix, matrix
from app.lab.sources.measured import Cost, cost
from app.lab.sources.source import File, files, parted, section
from app.lab.sources.timelines import Drawn, drawn
from app.modes import Way
from app.service import catalogue
from app.service.catalogue import CatalogueEntry

WORDS = re.compile(r"\w+|\s+|[^\w\s]")


class Numbered(NamedTuple):
    number: int  # from 1, in its file
    line: Line


@dataclass(frozen=True)
class LinePair:
    """Two lines next to each other: the same line, a changed one, or a line of one side alone."""

    left: tuple[Numbered, ...]
    right: tuple[Numbered, ...]
    same: bool = False


def compared(left: File, right: File) -> list[LinePair]:
    """Return every line of both files, in order."""
    rows: list[LinePair] = []
    before, after = enumerate(left.lines, left.first), enumerate(right.lines, right.first)
    # Lines of both sides in the same place, none of which is similar to another.
    gone: list[Numbered] = []
    come: list[Numbered] = []
    for sign in [*_signs(left.text, right.text), ""]:
        if sign == "-":
            gone.append(Numbered(*next(before)))
            continue
        if sign == "+":
            come.append(Numbered(*next(after)))
            continue
        if gone or come:
            rows.append(LinePair(tuple(gone), tuple(come)))
            gone, come = [], []
        if sign:
            pair = Numbered(*next(before)), Numbered(*next(after))
            rows.append(_changed(*pair) if sign == "~" else LinePair(pair[:1], pair[1:], same=True))
    return rows


def _signs(left: Sequence[str], right: Sequence[str]) -> str:
    """Return difflib.ndiff's signs: " " in both, "-" left, "+" right, "~" a line that has changed.

    ndiff writes a "?" line below one or both lines of a pair, to show where they differ; that is
    how it says that they are a pair. Indentation is no difference: the same steps are deeper in a
    loop, or in a `with`.
    """
    marks = "".join(line[0] for line in ndiff(_stripped(left), _stripped(right)))
    return re.sub(r"-\?\+\??|-\+\?", "~", marks)


def _stripped(lines: Sequence[str]) -> list[str]:
    return [line.lstrip() for line in lines]


def _changed(left: Numbered, right: Numbered) -> LinePair:
    before, after = _words(left), _words(right)
    matcher = SequenceMatcher(None, before, after, autojunk=False)
    gone, come = set[int](), set[int]()  # positions of characters
    for tag, i1, i2, j1, j2 in matcher.get_opcodes():
        if tag != "equal":
            gone |= _characters(before, i1, i2)
            come |= _characters(after, j1, j2)
    return LinePair(
        (left._replace(line=_marked(left.line, gone)),),
        (right._replace(line=_marked(right.line, come)),),
    )


def _words(numbered: Numbered) -> list[str]:
    return WORDS.findall("".join(piece.text for piece in numbered.line))


def _characters(words: Sequence[str], first: int, end: int) -> set[int]:
    """Return the positions of these words, without the indentation."""
    begin = len("".join(words[:first]))
    if first == 0 and words[:end] and words[0].isspace():
        begin = len(words[0])
    return set(range(begin, len("".join(words[:end]))))


def _marked(line: Line, positions: set[int]) -> Line:
    """Return the pieces of a line, cut where a change begins or ends."""
    cut, at = [], 0
    for piece in line:
        start = 0
        for end in range(1, len(piece.text) + 1):
            changed = at + start in positions
            if end == len(piece.text) or (at + end in positions) != changed:
                cut.append(piece._replace(text=piece.text[start:end], changed=changed))
                start = end
        at += len(piece.text)
    return tuple(cut)


@dataclass(frozen=True)
class Page:
    """One target's page. `target` is written as everywhere: `watch`, `lock:lease`."""

    target: str
    entry: CatalogueEntry
    files: list[File]
    section: File | None  # the part that a recipe's lock guards
    drawn: Drawn
    matrix: Matrix
    cost: Cost
    tutorials: tuple[int, ...]


@dataclass(frozen=True)
class Comparison:
    """Two targets side by side, the left file next to the right one.

    `before` is the part before `sell`, or before a recipe's `attempt`: imports and docstring.
    """

    left: str
    right: str
    files: tuple[File, File]
    before: list[LinePair]
    selling: list[LinePair]

    @property
    def rows(self) -> list[LinePair]:
        return self.before + self.selling

    @property
    def both(self) -> int:
        """The number of lines that are in both."""
        return sum(row.same for row in self.rows)

    @property
    def left_only(self) -> int:
        """The number of lines that only the left file has."""
        return len(self.files[0].lines) - self.both

    @property
    def right_only(self) -> int:
        """The number of lines that only the right file has."""
        return len(self.files[1].lines) - self.both


@cache
def ways() -> dict[str, CatalogueEntry]:
    """Return all modes, then all recipes, in teaching order."""
    modes = {entry.name: entry for entry in catalogue.modes()}
    return modes | {f"lock:{entry.name}": entry for entry in catalogue.recipes()}


def page(target: str, var: Path) -> Page:
    """Return a target's page; `var` has this machine's comparison. Raises UnknownWay."""
    entry, selling = _known(target), Way.of(target)
    return Page(
        target,
        entry,
        files(target),
        section() if selling.recipe else None,
        drawn(target),
        matrix(target),
        cost(target, var),
        selling.kind.tutorials,
    )


def compare(left: str, right: str) -> Comparison:
    """Return the first file of each, side by side. Raises UnknownWay."""
    _known(left), _known(right)
    return _compared(left, right)


@lru_cache(32)
def _compared(left: str, right: str) -> Comparison:
    both = files(left)[0], files(right)[0]
    before, selling = zip(*map(parted, both), strict=True)
    return Comparison(left, right, both, compared(*before), compared(*selling))


def _known(target: str) -> CatalogueEntry:
    """Look a target up in the catalogue, so that no name from a request is ever part of a path."""
    entry = ways().get(target)
    if entry is None:
        raise UnknownWay(target, ways())
    return entry
