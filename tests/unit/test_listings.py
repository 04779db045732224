"""`lastapple modes` and `lastapple locks`: as a student reads them, and as a program does."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from app.service import catalogue

LISTS = {"modes": catalogue.modes(), "locks": catalogue.recipes()}
pytestmark = pytest.mark.parametrize("command", LISTS)


def lastapple(*words: str) -> str:
    said = subprocess.run(
        [sys.executable, "-m", "app.cli", *words],
        env={"COLUMNS": "220"},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    return said.stdout


def test_every_one_has_its_line_and_exhibits_are_labelled(command: str) -> None:
    listed = lastapple(command)
    for entry in LISTS[command]:
        assert f"│ {entry.name} " in listed
        words = " ".join((entry.prevents, entry.breaks, entry.cost, entry.sound)).split()
        assert all(word in listed for word in words)
    exhibits = [entry for entry in LISTS[command] if entry.exhibit]
    assert listed.count("broken on purpose") == len(exhibits) > 0


def test_as_json(command: str) -> None:
    rows = json.loads(lastapple(command, "--json"))
    assert [(row["name"], row["exhibit"], row["breaks"]) for row in rows] == [
        (entry.name, entry.exhibit, entry.breaks) for entry in LISTS[command]
    ]
