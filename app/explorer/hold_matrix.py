"""Ways of selling in a round that holds, against every fault: a table of docs/matrix.md.

Every sound one of the explorer's. `lastapple explore --matrix --holds` makes it.
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
AT_EASE = ("atomic", "decr", "watch")  # under both pauses with three


def asked() -> list[MatrixRow]:
    """The table's rows, in teaching order."""
    sound = [name for name in explorable() if not Way.of(name).exhibit]
    return [MatrixRow(name, matrix.FEWER.get(name, BUYERS)) for name in sound]


def explored(row: MatrixRow, columns: Sequence[str] = tuple(COLUMNS)) -> dict[str, Report]:
    """One way of selling: column -> what was found.

    Each by itself: how many states redlock has depends on what was learned before.
    """
    return {
        column: Explorer(Holding(row.name), buyers(row, column)).explore(faults(row, column))
        for column in columns
    }


def buyers(row: MatrixRow, column: str) -> int:
    """With three, two pauses make more than 200,000 states of most."""
    return 2 if column == PAUSES and row.name not in AT_EASE else row.buyers


def faults(row: MatrixRow, column: str) -> Faults:
    """Of two buyers at four servers even one pause is a hundred thousand states."""
    once = column == PAUSES and row.name == "lock:redlock"
    return Faults(pause=1) if once else COLUMNS[column]


def reports() -> Generator[tuple[MatrixRow, dict[str, Report]], None, None]:
    """Each row as it is ready."""
    return matrix.reports(asked(), explored)


def markdown(cells: Matrix) -> str:
    """As between the marks in docs/matrix.md."""
    return matrix.table(cells, asked(), list(COLUMNS), cell)


def cell(row: MatrixRow, column: str, report: Report) -> str:
    its, usual = buyers(row, column), faults(row, column) == COLUMNS[column]
    less = [*([f"{its} buyers"] if its < row.buyers else []), *([] if usual else ["1 pause"])]
    return ", ".join([matrix.cell(report), *less])
