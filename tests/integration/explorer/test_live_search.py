"""Real servers check the graph: every schedule is run there, from its beginning.

These are a share of the cases of `make conformance`; the seed is new each time, and printed.
"""

from __future__ import annotations

from random import Random
from secrets import randbelow

import pytest
from badluck.faults import Faults
from badluck.frames.fingerprint import Fingerprint
from badluck.model.keyspace import Keyspace
from badluck.real_server.backend import RealBackend
from badluck.search import automaton

from tests.integration.explorer.cases import CASES, Case, differences
from tests.integration.explorer.engines.engine import Endless

SHARE = 12  # cases
SMALL = 150  # schedules


def test_graph_and_servers_count_the_same(real: RealBackend) -> None:
    seed = randbelow(1_000_000_000)
    print(f"seed {seed}")
    cases = [case for case in CASES if case.buyers == 2]
    small = 0
    for case in Random(seed).sample(cases, len(cases)):
        expected = case.by_graph()
        if expected is None or expected.total() > SMALL:
            continue
        got = case.by_servers(real.servers, SMALL)
        assert differences(expected, got) == [], str(case)
        small += 1
        if small == SHARE:
            break
    assert small == SHARE


@pytest.mark.parametrize(
    "case",
    [
        Case("fenced", 2, Faults(failover=1)),  # a lost number came again, within its ms
        Case("fused", 2, Faults(failover=1)),  # a broken connection was taken for silence
    ],
    ids=str,
)
def test_what_was_counted_wrongly_once(real: RealBackend, case: Case) -> None:
    expected = case.by_graph()
    assert expected
    assert differences(expected, case.by_servers(real.servers, SMALL)) == []


def test_a_model_that_is_wrong_is_caught(
    real: RealBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    """WATCH that forgets which keys were touched: the graph sells units that cannot be bought."""
    monkeypatch.setattr(Keyspace, "_touch", lambda keys, key: None)
    case = Case("watch", 2, Faults())
    expected = case.by_graph()
    assert expected
    assert differences(expected, case.by_servers(real.servers, 1_000))


def test_places_that_are_wrongly_taken_for_one_are_caught(
    real: RealBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Buyers that send the same are merged here: but of two that unlock, only one has sold."""
    monkeypatch.setattr(automaton, "fingerprint_of", lambda fiber: Fingerprint((), True))
    case = Case("lock:lease", 2, Faults())
    expected = case.by_graph()
    assert expected
    assert differences(expected, case.by_servers(real.servers, 1_000))


def test_there_is_an_end_to_patience(real: RealBackend) -> None:
    with pytest.raises(Endless, match="more than 10 schedules"):
        Case("naive", 2, Faults()).by_servers(real.servers, 10)


@pytest.mark.parametrize("real", ["valkey"], indirect=True)
def test_a_circle_is_not_gone_round_for_ever(real: RealBackend) -> None:
    """Two buyers that wait overwrite each other's stamp in turn."""
    case = Case("lock:getset", 2, Faults())
    assert case.by_graph() is None
    with pytest.raises(Endless, match="more than 300 steps"):
        case.by_servers(real.servers, 10_000)
