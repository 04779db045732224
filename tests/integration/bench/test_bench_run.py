"""Short real runs: the bench's counts, and the rows that it must reject."""

from __future__ import annotations

from functools import partial

import pytest

from loadtest.bench import BenchFailed
from loadtest.bench.cell import Shape
from loadtest.bench.contender import Names
from loadtest.bench.results import LockFigures
from loadtest.bench.rows import DEFAULT, ROWS, Build, LockRow, own_contender
from loadtest.bench.run import LocksPlan, measure, run, stage
from tests.integration.bench.stubs import Boastful, Broken, Forgetful, Never, Quiet, Stuck
from tests.support.zookeeper import ZooKeeperServer


def measured(
    rows: list[LockRow], shape: Shape, zookeeper_hosts: str = ""
) -> dict[str, LockFigures]:
    """Measure one repeat of one second."""
    told: list[str] = []
    plan = LocksPlan(rows, rows[0], [shape], 1, 1, zookeeper_hosts)
    results = run(plan, told.append).results
    assert told == [f"{row.name} at {shape}, repeat 1 of 1" for row in rows]
    return {result.row.name: result.repeats[0] for result in results}


def stub(build: Build) -> LockRow:
    return LockRow("stub", "a stub", build)


def test_every_default_lock_sells_exactly() -> None:
    found = measured([ROWS[name] for name in DEFAULT], Shape(2, 2))
    assert {name: figures.oversold for name, figures in found.items()} == dict.fromkeys(found, 0)
    assert all(figures.sales_per_s > 50 for figures in found.values())
    assert found["redis-py"].longest_ms > 100, "somebody slept"


def test_what_an_uncontended_sale_sends() -> None:
    """The section is two round trips (GET; MULTI, SET, XADD, EXEC): the rest is the lock's."""
    peers = [ROWS[name] for name in ("lease", "redis-py", "python-redis-lock", "pottery")]
    found = measured(peers, Shape(1, 1))
    sent = {
        name: (figures.round_trips_per_sale, figures.commands_per_sale)
        for name, figures in found.items()
    }
    assert sent == {
        "lease": (4, 7),
        "redis-py": (4, 7),
        "python-redis-lock": (5, 8),  # asks first whether the lock is its own already
        "pottery": (4, 7),  # sent from threads of its own, and counted, too
    }
    assert {figures.fairness for figures in found.values()} == {1.0}


ELSEWHERE = ["redlock", "db_unique", "zookeeper"]  # where their lock lives


def test_locks_outside_the_store_sell_exactly(zookeeper: ZooKeeperServer) -> None:
    found = measured([ROWS[name] for name in ELSEWHERE], Shape(2, 2), zookeeper.hosts)
    assert {name: figures.oversold for name, figures in found.items()} == dict.fromkeys(found, 0)
    assert all(figures.sales_per_s > 5 for figures in found.values())


def test_what_they_send_is_counted_or_not_known(zookeeper: ZooKeeperServer) -> None:
    """A master's SET and DEL are a round trip each; ZooKeeper's create, list and delete are three.

    The first client of a ZooKeeper line creates it, with two more requests.
    """
    found = measured([ROWS[name] for name in ELSEWHERE], Shape(1, 1), zookeeper.hosts)
    redlock, db_unique, in_zookeeper = found.values()
    assert (redlock.round_trips_per_sale, redlock.commands_per_sale) == (2 + 6, 5 + 6)
    assert (db_unique.round_trips_per_sale, db_unique.commands_per_sale) == (None, None)
    assert in_zookeeper.round_trips_per_sale == pytest.approx(2 + 3, abs=0.2)
    assert in_zookeeper.commands_per_sale == pytest.approx(5 + 3, abs=0.2)


def test_a_recipe_that_never_locks_oversells() -> None:
    found = measured([stub(partial(own_contender, Never))], Shape(1, 4))["stub"]
    assert found.oversold > 0  # test_oversold_is_exact says of how many


def test_oversold_is_exact() -> None:
    """Nothing is ever taken from stock: oversold is all that was sold, also outside of the
    window.
    """
    with stage(1) as (store, crew):
        names = Names.of("a")
        found = measure(store, crew, stub(Forgetful), names, Shape(1, 1), seconds=1)
        assert found.oversold == store.xlen(names.sales) > found.sales_per_s


def test_a_lock_that_nobody_gets_has_no_cost_a_sale() -> None:
    found = measured([stub(partial(own_contender, Stuck))], Shape(1, 2))["stub"]
    assert (found.sales_per_s, found.oversold, found.round_trips_per_sale) == (0, 0, None)


@pytest.mark.parametrize(
    ("build", "said"),
    [
        (Broken, "OSError: the apple is off"),
        (Quiet, "logged: the pear is off"),
        (Boastful, "the store has 0 sales"),
    ],
)
def test_what_goes_wrong_in_a_worker_is_said(build: Build, said: str) -> None:
    with pytest.raises(BenchFailed, match="stub at 1x1") as failed:
        measured([stub(build)], Shape(1, 1))
    assert said in str(failed.value)
