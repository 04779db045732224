"""Repair of a store with losses: two repairs, one acceptance, fulfil, in every order."""

from __future__ import annotations

from pathlib import Path

import orjson
import pytest
from badluck.explorer import Explorer
from badluck.faults import Faults
from badluck.report.model_backend import ModelBackend
from click.testing import CliRunner

from app.cli.explore import explore
from app.explorer.repair_findings import RULES
from app.explorer.repairing import REPAIRS, Repairing
from app.explorer.saved_schedules import read, replay
from tests.unit.explorer.mutants.mutant import wrong

PAGE = Path(__file__).parents[3] / "docs" / "explorer.md"


@pytest.mark.parametrize("fault", ["none", "crash", "pause", "lost", "late"])
@pytest.mark.parametrize("name", REPAIRS)
def test_nothing_goes_wrong(name: str, fault: str) -> None:
    faults = Faults() if fault == "none" else Faults(**{fault: 1})
    report = Explorer(Repairing(name), 2).explore(faults)
    assert report.exhaustive
    assert wrong(report) == set()


@pytest.mark.parametrize("name", REPAIRS)
def test_nor_when_somebody_accepts(name: str) -> None:
    report = Explorer(Repairing(name, accepts=True), 3).explore(Faults())
    assert report.exhaustive
    assert wrong(report) == set()


@pytest.mark.soak
@pytest.mark.parametrize("fault", ["crash", "pause"])
@pytest.mark.parametrize("name", REPAIRS)
def test_nor_when_somebody_accepts_and_something_breaks(name: str, fault: str) -> None:
    report = Explorer(Repairing(name, accepts=True), 3).explore(Faults(**{fault: 1}))
    assert report.exhaustive
    assert wrong(report) == set()


def test_a_failover_forgets_what_was_mended(tmp_path: Path) -> None:
    file = tmp_path / "found.json"
    said = CliRunner().invoke(
        explore, ["repair", "--faults", "failover=1", "--save", str(file), "--all-findings"]
    )
    assert said.exit_code == 1
    assert "which A and B mend at once" in " ".join(said.output.split())
    kept = read(file.read_bytes())
    assert kept.target == Repairing()
    assert kept.traces.keys() == {"lifted too early", "key forgotten"}
    for steps in kept.traces.values():
        played = replay(kept.target, kept.names, steps, ModelBackend())
        assert all(step.same for step in played)


def test_more_schedules_than_64_bits_can_be_saved(tmp_path: Path) -> None:
    file = tmp_path / "found.json"
    asked = ["repair", "--buyers", "3", "--faults", "none", "--json", str(file)]
    assert CliRunner().invoke(explore, asked).exit_code == 0
    assert float(orjson.loads(file.read_bytes())["schedules"]) > 2**64


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["repair", "--stock", "2"], "repair sells nothing: leave out --stock."),
        (["repair", "--holds"], "repair sells nothing: leave out --holds."),
        (["repair:fulfil", "--buyers", "4"], "repair:fulfil has 3 actors at the most."),
    ],
)
def test_what_it_cannot_be_asked_with(words: list[str], why: str) -> None:
    said = CliRunner().invoke(explore, words)
    assert said.exit_code == 2
    assert why in said.output


def test_every_finding_is_explained() -> None:
    text = PAGE.read_text()
    assert all(f"| {rule.name} |" in text for rule in RULES)
