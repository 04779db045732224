"""The matrix in the README: every cell explored anew.

To write it anew: `lastapple explore --matrix`, between the two marks.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from app.explorer.matrix import AGAIN, COLUMNS, Row, asked, read, rows

README = (Path(__file__).parents[3] / "README.md").read_text()
WRITTEN = read(README.partition("<!-- matrix -->\n")[2].partition("<!-- end of matrix -->")[0])


@pytest.fixture(scope="module")
def explored() -> dict[str, Row]:
    return dict(rows())


def test_all_that_can_be_explored_is_in_it() -> None:
    assert list(WRITTEN) == list(map(str, asked()))


@pytest.mark.parametrize("column", [*COLUMNS, AGAIN])
@pytest.mark.parametrize("name", list(map(str, asked())))
def test_cell(explored: dict[str, Row], name: str, column: str) -> None:
    assert explored[name][column] == WRITTEN[name][column]
