"""Exit statuses of `lastapple audit` and `lastapple check`, for scripts and containers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from click.testing import Result

from app.bootstrap import Services
from app.config import Settings
from app.ops.process_status import HeartbeatFile
from app.store.keys import Keys
from tests.support.command_line import environ_of, invoke
from tests.support.purchases import fulfil_all, mode, order
from tests.support.servers import free_port

RUNS_ON = ["valkey"]
Run = Callable[..., Result]


@pytest.fixture
def run(settings: Settings) -> Run:
    environ = environ_of(replace(settings, database_timeout=100))
    return lambda *words, **but: invoke(*words, **environ | but)


def test_an_audit_ends_with_its_verdict(services: Services, run: Run) -> None:
    round = services.rounds.start("apple", "atomic", 10, {})
    assert run("audit").exit_code == 0
    mode(services, round).sell(order(round))
    settling = run("audit")
    assert (settling.exit_code, "SETTLING" in settling.stdout) == (3, True)
    fulfil_all(services.fulfil)
    assert run("audit", "--json").exit_code == 0
    services.store.decr(Keys("apple", round.number).stock)
    assert run("audit").exit_code == 4, "undersold"
    services.store.incrby(Keys("apple", round.number).stock, 2)
    assert run("audit", "--json").exit_code == 4, "inconsistent"
    assert run("audit", "--round", "first").exit_code == 2
    nowhere = f"redis://127.0.0.1:{free_port()}/0"
    assert run("audit", REDIS_URL=nowhere).exit_code == 1


def test_a_check_ends_with_1_when_something_fails(services: Services, run: Run) -> None:
    well = run("check")
    assert well.exit_code == 0
    assert "The store takes writes." in well.stdout
    services.store.config_set("maxmemory", "1")
    try:
        ill = run("check")
    finally:
        services.store.config_set("maxmemory", "0")
    assert ill.exit_code == 1
    assert "failing  store: The store is out of memory" in ill.stdout


def test_fulfil_is_seen_by_its_beat(
    services: Services, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.ops.process_status.TURN", 0.2)
    away = run("check", "fulfil")
    assert away.exit_code == 1
    assert "fulfil is not running" in away.stdout
    services.heartbeat.give()
    assert run("check", "fulfil").exit_code == 1, "one sign is none: it may be of yesterday"


def test_fulfil_beats_with_every_turn(services: Services) -> None:
    seen = HeartbeatFile(services.settings)
    for consumer in services.fulfil.consumers:
        consumer.beat = services.heartbeat.give
    assert not seen.moved()
    fulfil_all(services.fulfil)
    assert seen.moved()
    assert not seen.moved()
