"""Every schedule that the explorer finds goes the same on a real server, step by step."""

from __future__ import annotations

import pytest
from badluck.explorer import Explorer
from badluck.faults import Faults
from badluck.real_server.backend import RealBackend
from badluck.report.model_backend import ModelBackend
from badluck.report.trace import Step
from badluck.search.names import LETTERS

from app.domain import ShopError
from app.explorer.hold_target import Holding
from app.explorer.matrix import Matrix, MatrixRow, asked
from app.explorer.saved_schedules import replay
from app.explorer.targets import Target


@pytest.mark.parametrize("row", asked(), ids=str)
def test_every_finding_of_the_matrix(real: RealBackend, matrix: Matrix, row: MatrixRow) -> None:
    """All findings of that row's cells, not only the gravest."""
    target, names = Target(row.name), LETTERS[: row.buyers]
    for finding in (finding for report in matrix[row].values() for finding in report.findings):
        played = replay(target, names, finding.trace, real)
        assert [step.got for step in played if not step.same] == [], finding.name
        assert len(played) == len(finding.trace)
        rehearsed = replay(target, names, finding.trace, ModelBackend())
        assert all(step.same for step in rehearsed)


@pytest.mark.parametrize("name", ["atomic", "decr", "watched", "lock:lease"])
@pytest.mark.parametrize("fault", ["pause", "lost", "late", "failover"])
def test_a_round_that_holds(real: RealBackend, name: str, fault: str) -> None:
    target = Holding(name)
    for finding in Explorer(target, 2).explore(Faults(**{fault: 1})).findings:
        played = replay(target, LETTERS[:2], finding.trace, real)
        assert [step.got for step in played if not step.same] == [], finding.name
        assert len(played) == len(finding.trace)


def test_work_that_takes_its_time(real: RealBackend) -> None:
    target = Target("lock:lease", think=15_000)
    for finding in Explorer(target, 2).explore(Faults()).findings:
        for where in (real, ModelBackend()):
            played = replay(target, LETTERS[:2], finding.trace, where)
            assert [step.got for step in played if not step.same] == []
            assert len(played) == len(finding.trace)


def oversell() -> tuple[Target, list[Step]]:
    target = Target("lock:lease")
    return target, Explorer(target, 2).explore(Faults(pause=1)).findings[0].trace


@pytest.mark.parametrize("on", ["server", "model"])
def test_a_trace_that_is_wrong_diverges_where_it_is(on: str, real: RealBackend) -> None:
    target, trace = oversell()
    wrong = [*trace[:3], trace[3]._replace(replies=["nil"]), *trace[4:]]
    played = replay(target, LETTERS[:2], wrong, real if on == "server" else ModelBackend())
    assert len(played) == 4
    assert not played[-1].same
    assert played[-1].got.replies == ["OK"]


@pytest.mark.parametrize("on", ["server", "model"])
def test_a_write_that_was_never_made_cannot_be_lost(on: str, real: RealBackend) -> None:
    target, trace = oversell()
    lost = trace[0]._replace(actor="", does="failover")
    with pytest.raises(ShopError, match="nothing has been written"):
        replay(target, LETTERS[:2], [lost], real if on == "server" else ModelBackend())
