"""The matrix of rounds with holds: every sound way to sell against every fault, in docs/matrix.md.

`lastapple explore --matrix --holds --markdown` makes it.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence

from badluck.explorer import Explorer
from badluck.faults import Faults
from badluck.report.report import Report

from app.explorer import matrix
from app.explorer.hold_target import Holding
from app.explorer.matrix import COLUMNS, Matrix, MatrixRow
from app.explorer.targets import explorable
from app.modes import Way

BUYERS = 3  # A pays at once, B too late, C cancels and sweeps

PAUSES = str(next(column for column, faults in COLUMNS.items() if faults.pause))
AT_EASE = ("atomic", "decr", "watch")  # few states: both pauses with three buyers are possible


def asked() -> list[MatrixRow]:
    """Return the table's rows, in teaching order."""
    sound = [name for name in explorable() if not Way.of(name).exhibit]
    return [MatrixRow(name, matrix.FEWER.get(name, BUYERS)) for name in sound]


def explored(row: MatrixRow, columns: Sequence[str] = tuple(COLUMNS)) -> dict[str, Report]:
    """Explore one way to sell; return column -> report.

    Each column is explored alone: how many states redlock has depends on what was learned before.
    """
    return {
        column: Explorer(Holding(row.name), buyers(row, column)).explore(faults(row, column))
        for column in columns
    }


def buyers(row: MatrixRow, column: str) -> int:
    """Return how many buyers. With three, two pauses make over 200,000 states in most modes."""
    return 2 if column == PAUSES and row.name not in AT_EASE else row.buyers


def faults(row: MatrixRow, column: str) -> Faults:
    """Return the faults: for two buyers at four servers even one pause makes 100,000 states."""
    once = column == PAUSES and row.name == "lock:redlock"
    return Faults(pause=1) if once else COLUMNS[column]


def reports() -> Generator[tuple[MatrixRow, dict[str, Report]], None, None]:
    """Yield each row as soon as it is ready."""
    return matrix.reports(asked(), explored)


def markdown(cells: Matrix) -> str:
    """Return the table as it is between the marks in docs/matrix.md."""
    return matrix.table(cells, asked(), list(COLUMNS), cell)


def cell(row: MatrixRow, column: str, report: Report) -> str:
    its, usual = buyers(row, column), faults(row, column) == COLUMNS[column]
    less = [*([f"{its} buyers"] if its < row.buyers else []), *([] if usual else ["1 pause"])]
    return ", ".join([matrix.cell(column, report), *less])
