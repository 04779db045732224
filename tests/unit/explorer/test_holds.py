"""A round that holds: hold, pay, expire and put back in every order of the steps."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import orjson
import pytest
from badluck.explorer import Explorer
from badluck.faults import Faults
from badluck.report.model_backend import ModelBackend
from click.testing import CliRunner

from app.cli.explore import explore
from app.cli.replay import replay as replay_command
from app.domain import Order, Round
from app.explorer.hold_findings import RULES
from app.explorer.hold_matrix import PAUSES, asked, explored
from app.explorer.hold_matrix import cell as cell_of
from app.explorer.hold_target import Holding
from app.explorer.matrix import COLUMNS, PREVENTED, MatrixRow
from app.explorer.matrix import read as cells
from app.explorer.saved_schedules import read, replay
from app.service.holds import Holds
from loadtest.chaos.fault_classes import FAULTS, FREEZE, FaultClass
from loadtest.chaos.judge.anomalies import Anomaly
from loadtest.chaos.promises import Durability, Loss, Nuisance, holding
from loadtest.chaos.promises_page import page

DOCS = Path(__file__).parents[3] / "docs"
TABLE = (DOCS / "matrix.md").read_text().partition("<!-- holds -->\n")[2]
WRITTEN = cells(TABLE.partition("<!-- end of holds -->")[0])
QUICK = [column for column in COLUMNS if column != PAUSES]
FOUND: dict[str, Loss] = {
    "oversell": Anomaly.OVERSOLD,
    "two ends": Anomaly.RETURNED,
    "paid too late": Anomaly.LATE,
    "unit there twice": Anomaly.SURPLUS,
    "negative stock": Anomaly.STRANDED,
    "unit lost": Anomaly.STRANDED,
    "order lost": Anomaly.LOST,
    "phantom order": Nuisance.DOUBT,
    "stuck forever": Anomaly.STUCK,
}


def test_every_sound_way_has_its_row() -> None:
    assert list(WRITTEN) == list(map(str, asked()))


# Holds in lock:fenced and lock:watchdog send the same commands as those in lock:lease; both recipes
# have rows in the matrix without holds. In full they took half a minute of the processor.
ONE_COLUMN = ("lock:redlock", "lock:queue", "fused", "lock:fenced", "lock:watchdog")


def quick(row: MatrixRow) -> Sequence[str]:
    return QUICK[:1] if row.name in ONE_COLUMN else QUICK


def check(row: MatrixRow, columns: Sequence[str]) -> None:
    for column, report in explored(row, columns).items():
        assert cell_of(row, column, report) == WRITTEN[str(row)][column], column


@pytest.mark.parametrize("row", asked(), ids=str)
def test_row(row: MatrixRow) -> None:
    """Rows that take longer are tested below."""
    check(row, quick(row))


@pytest.mark.long
@pytest.mark.parametrize("row", asked(), ids=str)
def test_the_rest_of_the_row(row: MatrixRow) -> None:
    check(row, [column for column in COLUMNS if column not in quick(row)])


@pytest.mark.parametrize(
    ("name", "faults"),
    [(row.name, Faults()) for row in asked() if row.name != "lock:redlock"]
    + [(name, Faults(crash=1)) for name in ("atomic", "watch", "lock:lease", "fenced")],
    ids=str,
)
def test_a_batch_of_several_holds_comes_back_whole_and_once(
    name: str, faults: Faults, monkeypatch: pytest.MonkeyPatch
) -> None:
    """B pays too late, and D never: A and C sweep both holds at once, or the rest of them."""
    batches = set[tuple[str, ...]]()
    put_back = Holds.put_back

    def noted(self: Holds, round: Round, orders: Sequence[Order]) -> bool:
        batches.add(tuple(order.id for order in orders))
        return put_back(self, round, orders)

    monkeypatch.setattr(Holds, "put_back", noted)
    found = Explorer(Holding(name, stock=2), 4).explore(faults).findings
    assert not [finding for finding in found if finding.name != "negative stock"]
    assert ("order-B", "order-D") in batches or ("order-D", "order-B") in batches


@pytest.mark.parametrize("durability", Durability)
@pytest.mark.parametrize(
    "fault", [fault for fault in FAULTS if fault.like in COLUMNS], ids=lambda fault: fault.name
)
def test_the_page_agrees_with_the_table(fault: FaultClass, durability: Durability) -> None:
    for row in asked():
        found = WRITTEN[str(row)][fault.like].partition(" (")[0].partition(",")[0]
        promise = holding(row.name, fault, durability)
        if found == PREVENTED:
            assert not promise.may or promise.beyond, f"{row.name}: more than the table finds"
        elif FOUND[found] not in promise.may:
            assert promise.beyond, f"{row.name}: the table finds {found}"


def test_an_outlived_lock_may_leave_what_comes_back_with_nobody_or_there_twice() -> None:
    """The page says so. With one unit no other buyer has anything to put back."""
    report = Explorer(Holding("lock:lease", stock=2), 2).explore(Faults(pause=2))
    found = {finding.name for finding in report.findings}
    assert {"unit lost", "unit there twice"} <= found
    promise = holding("lock:lease", FREEZE, Durability.SAFE).may
    assert {FOUND[name] for name in found & FOUND.keys()} <= promise


def test_the_page_says_what_holds_add() -> None:
    assert "In a round with holds" in page(["watch"])


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    file = tmp_path / "found.json"
    asked = ["atomic", "--holds", "--faults", "lost=1", "--save", str(file)]
    said = CliRunner().invoke(explore, asked)
    assert said.exit_code == 1
    assert "held for 5 s until they are paid for" in said.output
    assert " held " in said.output
    return file


def test_it_can_be_asked_for_kept_and_played_again(saved: Path) -> None:
    assert orjson.loads(saved.read_bytes())["hold_ms"] == 5_000
    kept = read(saved.read_bytes())
    assert kept.target == Holding("atomic")
    for steps in kept.traces.values():
        played = replay(kept.target, kept.names, steps, ModelBackend())
        assert all(step.same for step in played)
    said = CliRunner().invoke(replay_command, [str(saved), "--on", "model"])
    assert said.exit_code == 0
    assert "0 divergences" in said.output


def test_what_the_file_says_of_it_is_checked(saved: Path) -> None:
    document = orjson.loads(saved.read_bytes())
    said = CliRunner().invoke(replay_command, ["-"], input=orjson.dumps(document | {"hold_ms": 0}))
    assert said.exception
    assert "hold_ms" in str(said.exception) + said.output


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["sql", "--holds"], "--holds is for modes that sell from the store."),
        (["my_sell.py", "--holds"], "--holds is for modes that sell from the store."),
        (["watch", "--holds", "--again"], "--holds and --again are explored apart"),
        (["watch", "--holds", "--per-buyer", "1"], "--holds and --per-buyer are explored apart"),
    ],
)
def test_what_it_cannot_be_asked_with(words: list[str], why: str) -> None:
    said = CliRunner().invoke(explore, words)
    assert said.exit_code == 2
    assert why in said.output


def test_what_is_late_comes_over_a_connection_that_nobody_uses_any_more() -> None:
    """A buyer that waits for the clock after a reconnect differs from one that has not reconnected.

    If the two were one state, it would go on over the connection whose WATCH still waits for a late
    command.
    """
    explorer = Explorer(Holding("watch"), 2)
    explorer.explore(Faults(late=1))
    assert explorer.graph
    for state in explorer.graph.states:
        in_flight = {sent.connection for sent in state.in_flight}
        for _, node in explorer.graph.alive(state):
            asked = {getattr(request, "connection", "") for request in node.requests}
            assert not asked & in_flight


def test_every_finding_is_explained() -> None:
    text = (DOCS / "explorer.md").read_text()
    for rule in RULES:
        assert f"| {rule.name} |" in text
