"""A round's limit for a buyer, who presses in two windows at once, in every order of the steps."""

from __future__ import annotations

from pathlib import Path

import orjson
import pytest
from badluck.explorer import Explorer
from badluck.faults import Faults
from click.testing import CliRunner

from app.cli.explore import explore
from app.explorer.saved_schedules import read
from app.explorer.targets import Target, explorable
from tests.unit.explorer.mutants.mutant import wrong

ABOVE = "above the limit"


def is_as_right_as_the_stock(name: str, faults: Faults) -> None:
    """Check that units above the limit are sold only where units from nothing are sold."""
    limited = Explorer(Target(name, stock=3, per_buyer=1), 2).explore(faults)
    last_one = Explorer(Target(name), 2).explore(faults)
    assert limited.exhaustive
    assert (ABOVE in wrong(limited)) == ("oversell" in wrong(last_one))
    assert wrong(limited) - {ABOVE} <= wrong(last_one)


@pytest.mark.parametrize("name", explorable())
def test_the_limit_is_as_right_as_the_stock(name: str) -> None:
    is_as_right_as_the_stock(name, Faults(pause=1))


@pytest.mark.soak
@pytest.mark.parametrize("fault", ["crash", "lost", "late", "failover"])
@pytest.mark.parametrize("name", explorable())
def test_whatever_goes_wrong(name: str, fault: str) -> None:
    is_as_right_as_the_stock(name, Faults(**{fault: 1}))


def test_it_can_be_asked_for_and_kept(tmp_path: Path) -> None:
    file = tmp_path / "found.json"
    asked = ["naive", "--stock", "2", "--per-buyer", "1", "--faults", "none", "--save", str(file)]
    said = CliRunner().invoke(explore, asked)
    assert said.exit_code == 1
    assert ABOVE.upper() in said.output
    assert "1 for one buyer at all windows" in said.output
    assert orjson.loads(file.read_bytes())["per_buyer"] == 1
    kept = read(file.read_bytes())
    assert kept.target == Target("naive", stock=2, per_buyer=1)
    assert ABOVE in kept.traces


@pytest.mark.parametrize("target", ["sql", "my_sell.py"])
def test_only_of_modes_that_sell_from_the_store(target: str) -> None:
    said = CliRunner().invoke(explore, [target, "--per-buyer", "1"])
    assert said.exit_code == 2
    assert "--per-buyer is for modes that sell from the store." in said.output
