"""The matrix: every way to sell against every fault: prevented, or what goes wrong at what cost.

docs/matrix.md shows it; the lab reads it from matrix.md next to this file. A test explores each
cell again.
"""

from __future__ import annotations

import multiprocessing
import signal
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from badluck.explorer import Explorer
from badluck.faults import Faults
from badluck.functions.parallel_searches import cores
from badluck.report.report import Report

from app.domain.fault_words import FAULT_WORDS
from app.explorer.targets import Target, explorable
from app.text import Text

AGAIN = Text("others come again")
# The names are Texts: a page says them in its visitor's language.
COLUMNS: dict[str, Faults] = {
    Text("no fault"): Faults(),
    **{
        FAULT_WORDS[kind].counted(num): Faults(**{kind: num})
        for kind, num in (("crash", 1), ("pause", 2), ("lost", 1), ("failover", 1), ("late", 1))
    },
}
PREVENTED = "prevented"
NONE_STARVES = "none starves"  # under AGAIN, of which an oversell is no matter
INCONCLUSIVE = "inconclusive"
WRITTEN = Path(__file__).with_name("matrix.md")

Row = dict[str, str]  # column -> cell


class MatrixRow(NamedTuple):
    """The target and options of one row."""

    name: str
    buyers: int = 3

    def __str__(self) -> str:
        fewer = (
            f", {self.buyers} buyers" if self.buyers < MatrixRow._field_defaults["buyers"] else ""
        )
        return f"`{self.name}`{fewer}"


# With three buyers, a pause or a failover at three masters makes over a million states; one such
# row takes as long as all others.
FEWER = {"lock:redlock": 2, "lock:queue": 2}
# Begun first, so that all cores finish together: more than half of the work.
LONGEST = ("lock:redlock", "fused", "lock:watchdog_any")


def asked() -> list[MatrixRow]:
    """Return the matrix's rows, in teaching order."""
    return [MatrixRow(name, FEWER.get(name, 3)) for name in explorable()]


def explored(asked: MatrixRow) -> dict[str, Report]:
    """Explore one way to sell against everything; return column -> report."""
    explorer = Explorer(Target(asked.name), asked.buyers)
    reports = {column: explorer.explore(faults) for column, faults in COLUMNS.items()}
    return reports | {AGAIN: explorer.starve()}


def cell(column: str, report: Report) -> str:
    """Return the gravest finding with its cost; that there is none only if all was explored."""
    if report.findings:
        worst = report.findings[0]
        return f"{worst.name} {tuple(worst.cost)}"
    if not report.exhaustive:
        return INCONCLUSIVE
    return NONE_STARVES if column == AGAIN else PREVENTED


Matrix = Mapping[MatrixRow, Mapping[str, Report]]  # row -> column


Explore = Callable[[MatrixRow], dict[str, Report]]


def reports(
    rows: Sequence[MatrixRow] | None = None, explore: Explore = explored
) -> Generator[tuple[MatrixRow, dict[str, Report]], None, None]:
    """Yield each row as soon as it is ready; each core works on one, in order. None: asked().

    `explore` is a function of a module, as it goes to other processes.
    """
    rows = sorted(asked(), key=lambda row: row.name not in LONGEST) if rows is None else rows
    # Spawned: a child must not inherit the greenlets and patches of the caller.
    workers = ProcessPoolExecutor(cores(), multiprocessing.get_context("spawn"))
    others = set(multiprocessing.active_children())
    with workers:
        try:
            with _deaf():
                futures = {workers.submit(explore, row): row for row in rows}
            for future in as_completed(futures):
                yield futures[future], future.result()
        finally:  # the caller wants no more of it
            for process in set(multiprocessing.active_children()) - others:
                process.kill()


@contextmanager
def _deaf() -> Iterator[None]:
    """Start processes here that never receive a Ctrl-C: this process ends them.

    They inherit the signals that this thread blocks. Another thread of this process may still
    receive it; then it is noted, and raised at the end: no process must be left half started.
    """
    noted: list[int] = []
    handler = signal.signal(signal.SIGINT, lambda number, _: noted.append(number))
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        signal.signal(signal.SIGINT, handler)
    if noted:
        signal.raise_signal(signal.SIGINT)


def markdown(cells: Matrix) -> str:
    """Return the matrix as it is in docs/matrix.md, in teaching order."""
    return table(cells, asked(), [*COLUMNS, AGAIN])


def table(
    matrix: Matrix,
    rows: Sequence[MatrixRow],
    columns: Sequence[str],
    said: Callable[[MatrixRow, str, Report], str] = lambda _, column, report: cell(column, report),
) -> str:
    lines = [f"| | {' | '.join(columns)} |", f"|---|{'---|' * len(columns)}"]
    for row in rows:
        cells = (said(row, column, matrix[row][column]) for column in columns)
        lines.append(f"| {row} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def read(text: str) -> dict[str, Row]:
    """Parse the cells that markdown() wrote."""
    header, _, *lines = [
        [part.strip() for part in line.strip().strip("|").split("|")]
        for line in text.strip().splitlines()
    ]
    return {line[0]: dict(zip(header[1:], line[1:], strict=True)) for line in lines}


def written() -> dict[str, Row]:
    """Return the matrix as it was explored last; to explore it takes a minute."""
    return read(WRITTEN.read_text(encoding="utf-8"))
