"""The cost of putting holds back, and how long after their deadlines they are back."""

from __future__ import annotations

import statistics
import time

import pytest

from app.bootstrap import Services
from app.config import Settings
from app.domain import Outcome
from app.modes import MODES, Way
from tests.support.expiring_holds import (
    buy,
    cpu_s,
    hold_at_once,
    run_out_within_a_second,
    still_held,
    sweep,
)
from tests.support.forked_process import Forked
from tests.support.holds import LONG, counted
from tests.support.purchases import SOUND, mode, order
from tests.support.servers import until as wait_until

RUNS_ON = ["valkey"]
NAMES = [name for name in SOUND if name in MODES or name in ("lock:lease", "lock:queue")]
HALF = 0.5  # of a sale's CPU, at most
SOLD = 1_000
MANY = 5_000

pytestmark = [
    pytest.mark.alone,
    pytest.mark.usefixtures("database_url"),
    pytest.mark.parametrize(
        ("name", "database_url"),
        [(name, "postgresql" if name == "sql_units" else "sqlite") for name in NAMES]
        + [("sql", "postgresql")],
        indirect=["database_url"],
    ),
]


def test_a_hold_that_comes_back_costs_at_most_half_of_a_sale(services: Services, name: str) -> None:
    """CPU of all processes, both measured in one run, so that other load affects both."""
    round = services.rounds.start("apple", name, SOLD, {"hold": 1, "wait": 60_000})
    seller = mode(services, round)
    before = cpu_s(services)
    for _ in range(SOLD):
        assert seller.sell(order(round)).outcome is Outcome.SOLD
    sold = cpu_s(services)
    back = 0
    while back < SOLD:
        back += services.sweep.sweep(["apple"])
    sale, hold = sold - before, cpu_s(services) - sold
    said = f"{name}: {sale / SOLD * 1e6:.0f} µs of CPU a sale, {hold / SOLD * 1e6:.0f} µs a hold"
    print(f"{said}: {hold / sale:.2f}")
    assert counted(services, round) == (SOLD, 0, 0)
    assert hold <= HALF * sale


@pytest.mark.long
def test_thousands_that_run_out_within_a_second(
    services: Services, settings: Settings, name: str
) -> None:
    """While 16 buyers buy. It prints how late they come back; the machine's speed is not tested."""
    terms = {"hold": LONG, "wait": 60_000}
    round = services.rounds.start("apple", name, 90_000, terms)
    made = hold_at_once(services, round, MANY)
    sweeper, buyers = Forked(sweep, settings, "apple"), Forked(buy, settings, "apple")
    begin = services.rounds.now() + 3_000
    deadlines = run_out_within_a_second(services, round, made, begin)
    wait_until(lambda: services.rounds.now() > begin + 1_000)
    while still_held(services, round, made):
        time.sleep(0.2)
    sold, back = buyers.ask("stop"), sweeper.ask("stop")
    sweeper.close()
    buyers.close()
    late = sorted((back[id] - until) / 1000 for id, until in deadlines.items())
    said = f"{late[0]:.2f} s, median {statistics.median(late):.2f} s, at most {late[-1]:.2f} s"
    where = f" on {services.engine.dialect.name}" if Way.of(name).in_database else ""
    print(f"{name}{where}: {MANY} holds back {said} after their deadlines; {sold} sold meanwhile")
    assert counted(services, round) == (90_000 - sold, sold, 0)
