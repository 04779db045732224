"""The matrix: every cell explored anew.

To write it anew: `lastapple explore --matrix > app/explorer/matrix.md`, and the same between the
two marks in docs/matrix.md (tests/unit/explorer/test_docs.py compares the two).
"""

from __future__ import annotations

import pytest

from app.explorer.matrix import AGAIN, COLUMNS, Asked, Matrix, asked, cell, written

WRITTEN = written()


def test_all_that_can_be_explored_is_in_it() -> None:
    assert list(WRITTEN) == list(map(str, asked()))


@pytest.mark.parametrize("column", [*COLUMNS, AGAIN])
@pytest.mark.parametrize("row", asked(), ids=str)
def test_cell(matrix: Matrix, row: Asked, column: str) -> None:
    assert cell(matrix[row][column]) == WRITTEN[str(row)][column]
