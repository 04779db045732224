"""A target's rows of the matrix: how it goes wrong under each fault, and at what cost."""

from __future__ import annotations

import re
from dataclasses import dataclass

from badluck.faults import Faults

from app.explorer.matrix import AGAIN, COLUMNS, written
from app.explorer.targets import explorable
from app.modes import Way


@dataclass(frozen=True)
class MatrixCell:
    """One cell. `finding` is "" where there is none. `cost`: (faults, switches, steps)."""

    column: str  # a Text
    finding: str
    cost: str
    played: bool  # by the Explorer's page, which asks of faults only

    @property
    def faults(self) -> Faults:
        """The faults with which the finding is played."""
        return COLUMNS[self.column]


@dataclass(frozen=True)
class MatrixFindings:
    """One row. `note` says how it differs from the usual row: "2 buyers"."""

    target: str
    note: str
    cells: list[MatrixCell]


@dataclass(frozen=True)
class Matrix:
    """The rows of one target; none for a target without a model in the explorer."""

    rows: list[MatrixFindings]
    kept_in: str = ""  # "database", "rows", "zookeeper": the reason why the explorer has no model


def matrix(target: str) -> Matrix:
    """Return a target's matrix; `lock` alone has the rows of all its recipes."""
    wanted = {name for name in explorable() if name == target or name.startswith(f"{target}:")}
    rows = []
    for name, cells in written().items():
        of, note = _parsed(name)
        if of in wanted:
            row_cells = [_cell(column, cells[column]) for column in (*COLUMNS, AGAIN)]
            rows.append(MatrixFindings(of, note, row_cells))
    return Matrix(rows, "" if rows else Way.of(target).needs)


def _parsed(name: str) -> tuple[str, str]:
    """Split a row's name: "`lock:redlock`, 2 buyers" is a target and a note."""
    [(target, note)] = re.findall(r"^`([^`]+)`(?:, )?(.*)$", name)
    return target, note


def _cell(column: str, text: str) -> MatrixCell:
    finding, bracket, cost = text.partition(" (")
    if not bracket:
        return MatrixCell(column, "", "", column in COLUMNS)
    return MatrixCell(column, finding, f"({cost}", column in COLUMNS)
