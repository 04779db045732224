"""Several sold to in one go: every order of the steps of two workers who do so.

Its table in docs/matrix.md, written anew: .venv/bin/python -m tests.unit.explorer.test_combined
"""

from __future__ import annotations

from pathlib import Path

import pytest
from badluck.explorer import Explorer
from badluck.faults import Faults
from badluck.report.model_backend import ModelBackend
from click.testing import CliRunner

from app.cli.explore import explore
from app.explorer.combined import NAMES, Combined
from app.explorer.matrix import COLUMNS, cell, read
from app.explorer.replays import replay
from app.service.explored.saved import read as read_saved
from tests.unit.explorer.mutants.mutant import wrong

PAGE = Path(__file__).parents[3] / "docs" / "matrix.md"
BEGIN, END = "<!-- combined -->\n", "<!-- end of combined -->"
STOCK = 2  # units: one less than two workers may get


def explored(name: str) -> dict[str, str]:
    explorer = Explorer(Combined(name, STOCK), 2)
    return {column: cell(explorer.explore(faults)) for column, faults in COLUMNS.items()}


def written() -> str:
    return PAGE.read_text(encoding="utf-8").partition(BEGIN)[2].partition(END)[0]


@pytest.mark.parametrize("name", NAMES)
def test_the_table_says_what_is_found(name: str) -> None:
    rows = read(written())
    assert list(rows) == [f"`{name}`" for name in NAMES]
    assert rows[f"`{name}`"] == dict(zip(COLUMNS, explored(name).values(), strict=True))


@pytest.mark.parametrize("name", NAMES)
def test_three_workers_and_a_limit_of_one_buyer(name: str) -> None:
    assert wrong(Explorer(Combined(name, 3), 3).explore(Faults())) == set()
    assert wrong(Explorer(Combined(name, 5, per_buyer=2), 2).explore(Faults())) == set()


def test_it_can_be_asked_for_kept_and_played_again(tmp_path: Path) -> None:
    file = tmp_path / "found.json"
    asked = ["fused:combined", "--stock", "2", "--faults", "lost=1", "--save", str(file)]
    said = CliRunner().invoke(explore, asked)
    assert (said.exit_code, "PHANTOM ORDER" in said.output) == (1, True)
    kept = read_saved(file.read_bytes())
    assert kept.target == Combined("fused:combined", STOCK)
    for steps in kept.traces.values():
        assert all(step.same for step in replay(kept.target, kept.names, steps, ModelBackend()))
    refused = CliRunner().invoke(explore, ["fused:combined", "--holds"])
    assert (refused.exit_code, "without --holds" in refused.output) == (2, True)


def table() -> str:
    lines = [f"| | {' | '.join(COLUMNS)} |", f"|---|{'---|' * len(COLUMNS)}"]
    lines += [f"| `{name}` | {' | '.join(explored(name).values())} |" for name in NAMES]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    PAGE.write_text(before + BEGIN + table() + END + rest.partition(END)[2], encoding="utf-8")
