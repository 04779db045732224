"""fulfil's sweep: a bug in one round keeps no other round's units."""

from __future__ import annotations

import logging
import threading

import pytest

from app.bootstrap import Services
from app.domain import Round
from app.service.holds import Holds
from tests.support.holds import LONG, counted, runs_out
from tests.support.purchases import mode, order
from tests.support.servers import until

RUNS_ON = ["valkey"]


@pytest.mark.parametrize("bug", [RuntimeError("a bug"), MemoryError("a bug")])
def test_a_bug_in_one_round_is_logged_once(
    services: Services,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    bug: Exception,
) -> None:
    monkeypatch.setattr("app.service.holds.TURN", 0.01)
    sweeps, tried = Holds.sweep, list[str]()

    def broken(holds: Holds, round: Round, most: int) -> int:
        tried.append(round.item)
        if round.item == "apple":
            raise bug
        return sweeps(holds, round, most)

    monkeypatch.setattr(Holds, "sweep", broken)
    rounds = {}
    for item in ("apple", "pear"):
        rounds[item] = services.rounds.start(item, "atomic", 5, {"hold": LONG})
        sold = order(rounds[item], quantity=2)
        mode(services, rounds[item]).sell(sold)
        runs_out(services, sold)
    stop = threading.Event()
    threads = [
        threading.Thread(target=services.sweep.run, args=(item, stop)) for item in ("apple", "pear")
    ]
    with caplog.at_level(logging.WARNING):
        for thread in threads:
            thread.start()
        try:
            until(lambda: tried.count("apple") > 2)
            until(lambda: counted(services, rounds["pear"]) == (5, 0, 0))
        finally:
            stop.set()
            for thread in threads:
                thread.join(10)
    [said] = [record for record in caplog.records if "a bug" in record.getMessage()]
    assert said.exc_info
