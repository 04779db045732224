"""The page of promises: generated from the judge's table, and consistent with the matrix."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path

import pytest

from app.explorer.matrix import NONE_STARVES, PREVENTED, WRITTEN
from app.locks import LOCKS
from app.modes import MODES
from loadtest.chaos.fault_classes import FAULTS, FaultClass, classify
from loadtest.chaos.history import Kind, Part, Reply
from loadtest.chaos.judge.anomalies import Anomaly
from loadtest.chaos.judge.judge import judge
from loadtest.chaos.promises import EXHIBITS, Durability, Loss, Nuisance, promise_for
from loadtest.chaos.promises_page import SENTENCES, TOLD, page
from tests.unit.chaos.written_history import Tale

DOCS = Path(__file__).parents[3] / "docs"
# The explorer's finding -> the loss of a buyer or of the ledger.
FOUND: dict[str, Loss] = {
    "oversell": Anomaly.OVERSOLD,
    "negative stock": Anomaly.STRANDED,
    "phantom order": Nuisance.DOUBT,
    "stuck forever": Anomaly.STUCK,
    "starved": Nuisance.PATIENCE,
}


def ways() -> list[tuple[str, bool]]:
    """Return (mode or mode:recipe, whether it is an exhibit)."""
    modes = [(mode.name, mode.exhibit) for mode in MODES.values() if mode.name != "lock"]
    return modes + [(f"lock:{name}", recipe.exhibit) for name, recipe in LOCKS.items()]


def matrix() -> Iterator[tuple[str, str, str]]:
    """Yield (way, column, the finding, PREVENTED or NONE_STARVES)."""
    head, _, *rows = WRITTEN.read_text().strip().splitlines()
    columns = [cell.strip() for cell in head.strip("|").split("|")][1:]
    for row in rows:
        name, *cells = [cell.strip() for cell in row.strip("|").split("|")]
        way = re.findall("`(.+)`", name)[0]
        for its, found in zip(columns, cells, strict=True):
            yield way, its, found.partition(" (")[0]


def sound() -> list[str]:
    return [way for way, exhibit in ways() if not exhibit]


def test_the_page_is_made_of_what_is_promised() -> None:
    made = ".venv/bin/python -m tests.unit.chaos.test_promises"
    assert (DOCS / "promises.md").read_text() == page(sound()), made


def test_an_exhibit_is_promised_nothing() -> None:
    assert {way for way, exhibit in ways() if exhibit} == set(EXHIBITS)


def test_each_fault_is_of_one_column_and_each_column_of_the_matrix_is_one_here() -> None:
    for one, other in combinations(FAULTS, 2):
        assert not one.deeds & other.deeds, (one.name, other.name)
    assert {fault.like for fault in FAULTS} - {""} == {its for _, its, _ in matrix()}


def test_the_audit_has_to_be_right_whatever_happens() -> None:
    for way, _ in ways():
        for fault in FAULTS:
            for durability in Durability:
                assert Anomaly.MISJUDGED not in promise_for(way, fault, durability).may


def test_every_loss_has_its_words() -> None:
    assert TOLD.keys() == {*Anomaly, *Nuisance}


def test_the_page_has_the_sentence_that_each_anomaly_contradicts() -> None:
    text = " ".join((DOCS / "promises.md").read_text().split())
    assert SENTENCES.keys() == {*Anomaly}
    assert not [sentence for sentence in SENTENCES.values() if sentence not in text]


@pytest.mark.parametrize("durability", Durability)
@pytest.mark.parametrize(
    "fault", [fault for fault in FAULTS if fault.like], ids=lambda fault: fault.name
)
def test_the_page_agrees_with_the_matrix_or_says_why_not(
    fault: FaultClass, durability: Durability
) -> None:
    rows = [(way, found) for way, its, found in matrix() if its == fault.like]
    assert len(rows) > 20
    for way, found in rows:
        promise = promise_for(way, fault, durability)
        if found in (PREVENTED, NONE_STARVES):
            assert not promise.may or promise.beyond, f"{way}: more than the matrix finds"
        elif FOUND[found] not in promise.may:
            assert promise.beyond, f"{way}: the matrix finds {found}"


FROZEN = (Kind.FREEZE, Part.WORKER)
# Two bought the last one, which no order of the answers allows: way, durability, fault, verdict.
VERDICTS = [
    ("lock:lease", "safe", None, "broken promise"),
    ("lock:lease", "safe", FROZEN, "as promised"),
    ("lock:lease", "safe", (Kind.KILL, Part.WORKER), "broken promise"),
    ("fenced", "safe", FROZEN, "broken promise"),
    ("atomic", "safe", (Kind.FAILOVER, Part.STORE), "as promised"),
    ("atomic", "replicated", (Kind.FAILOVER, Part.STORE), "broken promise"),
    ("atomic", "fast", (Kind.LOG_CUT, Part.STORE), "as promised"),
    ("atomic", "safe", (Kind.LOG_CUT, Part.STORE), "broken promise"),
    ("sql", "fast", (Kind.KILL, Part.STORE), "broken promise"),
    ("naive", "safe", None, "as promised"),
]


@pytest.mark.parametrize(("way", "durability", "fault", "verdict"), VERDICTS)
def test_a_run_is_held_against_the_page(
    way: str, durability: str, fault: tuple[Kind, Part] | None, verdict: str
) -> None:
    tale = Tale(1, mode=way, durability=durability)
    tale.told("a", 10, 20, Reply.SOLD, 0).told("b", 10, 20, Reply.SOLD, 0).booked("a", "b")
    if fault:
        tale.broken(*fault, since=5, until=15)
    judged = judge(tale.audited(0))
    assert judged.verdict == verdict
    assert judged.status == (verdict != "as promised")
    assert {one.wrong for one in (*judged.broken, *judged.expected)} >= {Anomaly.OVERSOLD}


def test_a_fault_after_the_last_audit_of_a_round_excuses_nothing() -> None:
    tale = Tale(1, ends=1_000).told("a", 10, 20, Reply.SOLD, 0)
    tale.broken(Kind.FAILOVER, Part.STORE, since=2_000, until=2_100)
    assert judge(tale.audited(0)).verdict == "broken promise"


def test_a_fault_of_which_nothing_is_promised_is_no_excuse() -> None:
    with pytest.raises(LookupError, match="log_cut of the worker"):
        classify(Kind.LOG_CUT, Part.WORKER)


if __name__ == "__main__":
    (DOCS / "promises.md").write_text(page(sound()))
