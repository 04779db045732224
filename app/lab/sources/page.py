"""All that the lab shows of one mode or recipe."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path

from app.domain import UnknownWay
from app.lab.sources.compared import LinePair, compared
from app.lab.sources.matrix_rows import Matrix, matrix
from app.lab.sources.measured import Cost, cost
from app.lab.sources.source import File, files, parted, section
from app.lab.sources.timelines import Drawn, drawn
from app.modes import Way
from app.service import catalogue
from app.service.catalogue import CatalogueEntry


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
