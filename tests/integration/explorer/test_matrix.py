"""The matrix: every cell explored again.

To update it: `lastapple explore --matrix --markdown > app/explorer/matrix.md`, and the same between
the two marks in docs/matrix.md (tests/unit/explorer/test_docs.py compares the two).
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from app.explorer.matrix import AGAIN, COLUMNS, Matrix, MatrixRow, asked, cell, explored, written

WRITTEN = written()


def test_all_that_can_be_explored_is_in_it() -> None:
    assert list(WRITTEN) == list(map(str, asked()))


@pytest.mark.parametrize("column", [*COLUMNS, AGAIN])
@pytest.mark.parametrize("row", asked(), ids=str)
def test_cell(matrix: Matrix, row: MatrixRow, column: str) -> None:
    assert cell(column, matrix[row][column]) == WRITTEN[str(row)][column]


@pytest.mark.parametrize("name", ["naive", "watched"])
def test_it_is_the_same_in_one_process(matrix: Matrix, name: str) -> None:
    """The same number of states, too: for watched it once depended on the order of a set."""
    [row] = [row for row in matrix if row.name == name]
    for column, report in explored(row).items():
        shown = replace(matrix[row][column], seconds=report.seconds).document()
        assert report.document() == shown
