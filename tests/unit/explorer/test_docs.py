"""docs/explorer.md names every finding and every fault, and its other results are the real ones."""

from __future__ import annotations

import re
from pathlib import Path

from badluck.faults import Faults

from app.explorer.findings import FINDINGS
from app.explorer.matrix import WRITTEN
from tests.unit.explorer.shortest_schedules import FILE, page

TOP = Path(__file__).parents[3]
PAGE = (TOP / "docs" / "explorer.md").read_text()


def test_every_finding_is_explained() -> None:
    table = PAGE.partition("## What can be found")[2].partition("## Options")[0]
    assert re.findall(r"^\| ([a-z ]+) \|", table, re.MULTILINE) == list(FINDINGS)


def test_every_fault_is_explained() -> None:
    assert all(f"{name}=" in PAGE for name in Faults._fields)


def test_the_matrix_of_the_docs_is_the_one_that_the_lab_reads() -> None:
    """tests/integration/explorer/test_matrix.py explores it."""
    page = (TOP / "docs" / "matrix.md").read_text()
    shown = page.partition("<!-- matrix -->\n")[2].partition("<!-- end of matrix -->")[0]
    assert shown == WRITTEN.read_text()


def test_how_each_mode_goes_wrong_is_what_is_found_now() -> None:
    advice = "Write it anew: .venv/bin/python -m tests.unit.explorer.shortest_schedules"
    assert FILE.read_text() == page(), advice
