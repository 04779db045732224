"""docs/explorer.md names every finding and every fault."""

from __future__ import annotations

import re
from pathlib import Path

from app.explorer.faults import Faults
from app.explorer.findings import FINDINGS

PAGE = (Path(__file__).parents[3] / "docs" / "explorer.md").read_text()


def test_every_finding_is_explained() -> None:
    table = PAGE.partition("## What can be found")[2].partition("## Budgets")[0]
    assert re.findall(r"^\| ([a-z ]+) \|", table, re.MULTILINE) == list(FINDINGS)


def test_every_fault_is_explained() -> None:
    assert all(f"{name}=" in PAGE for name in Faults._fields)
