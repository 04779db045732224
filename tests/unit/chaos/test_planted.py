"""Bugs can be planted: each replaced text is in its file exactly once."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.integration.chaos.bug import ROOT, Bug, Change, plant
from tests.integration.chaos.planted_bugs import BUGS


@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.name)
def test_it_can_be_planted(bug: Bug, tmp_path: Path) -> None:
    for change in bug.changes:
        copy = tmp_path / change.file
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / "app" / change.file, copy)
    plant(bug, tmp_path)


def test_a_bug_whose_place_has_moved(tmp_path: Path) -> None:
    (tmp_path / "code.py").write_text("if left < 2:\n")
    moved = Bug("", "atomic", [Change("code.py", "if left < 1", "if left < 0")])
    with pytest.raises(ValueError, match=r"code.py has 0 of 'if left < 1'"):
        plant(moved, tmp_path)
