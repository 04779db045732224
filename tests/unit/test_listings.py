"""`lastapple modes` and `lastapple locks`: for a student, and for a program."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from functools import cache

import pytest

from app.service import catalogue

LISTS = {"modes": catalogue.modes(), "locks": catalogue.recipes()}
pytestmark = pytest.mark.parametrize("command", LISTS)


@cache
def lastapple(*words: str, columns: int = 220) -> str:
    said = subprocess.run(
        [sys.executable, "-m", "app.cli", *words],
        env={"COLUMNS": str(columns)},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    return said.stdout


@pytest.mark.parametrize("columns", [80, 220])
def test_every_one_is_there_whole_and_exhibits_are_labelled(command: str, columns: int) -> None:
    listed = lastapple(command, columns=columns)
    assert max(map(len, listed.splitlines())) <= columns
    for entry in LISTS[command]:
        assert re.search(rf"^(│ )?{entry.name}[: ]", listed, re.MULTILINE)
        words = " ".join((entry.prevents, entry.breaks, entry.cost, entry.sound)).split()
        assert all(word in listed for word in words)
    exhibits = [entry for entry in LISTS[command] if entry.exhibit]
    assert " ".join(listed.split()).count("broken on purpose") == len(exhibits) > 0


def test_on_80_columns_each_row_is_a_line_or_two(command: str) -> None:
    *entries, _note = lastapple(command, columns=80).split("\n\n")
    assert len(entries) == len(LISTS[command])
    for entry in entries:
        rows = re.findall(r"^  (\w+)", entry, re.MULTILINE)
        assert rows == ["prevents", "breaks", "cost", "sound"]
        assert len(entry.splitlines()) <= 2 * (1 + len(rows))


def test_as_json(command: str) -> None:
    rows = json.loads(lastapple(command, "--json"))
    assert [(row["name"], row["exhibit"], row["breaks"]) for row in rows] == [
        (entry.name, entry.exhibit, entry.breaks) for entry in LISTS[command]
    ]
