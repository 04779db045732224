"""The matrix: every cell explored anew.

To write it anew: `lastapple explore --matrix > app/explorer/matrix.md`, and the same between the
two marks in the README (tests/unit/explorer/test_docs.py compares the two).
"""

from __future__ import annotations

import pytest

from app.explorer.matrix import AGAIN, COLUMNS, Row, asked, rows, written

WRITTEN = written()


@pytest.fixture(scope="module")
def explored() -> dict[str, Row]:
    return dict(rows())


def test_all_that_can_be_explored_is_in_it() -> None:
    assert list(WRITTEN) == list(map(str, asked()))


@pytest.mark.parametrize("column", [*COLUMNS, AGAIN])
@pytest.mark.parametrize("name", list(map(str, asked())))
def test_cell(explored: dict[str, Row], name: str, column: str) -> None:
    assert explored[name][column] == WRITTEN[name][column]
