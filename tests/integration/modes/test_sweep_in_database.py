"""Sweeps of holds in the database: how they find their units, and how they get their turn."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import event, select, text

from app.bootstrap import Services
from app.domain import Outcome
from app.store.sql import units
from tests.support.expiring_holds import hold_at_once
from tests.support.holds import LONG, counted, runs_out
from tests.support.purchases import mode, order

RUNS_ON = ["valkey"]  # it plays no part here
pytestmark = pytest.mark.usefixtures("database_url")

BATCH = 500  # holds that come back in one step
MANY = 20_000
ATTEMPTS = 20  # of a sweep, until the file is free: without a growing pause, they take no time


@pytest.mark.parametrize("database_url", ["postgresql"], indirect=True)
def test_a_batch_reads_its_own_units_only(services: Services) -> None:
    round = services.rounds.start("apple", "sql_units", MANY, {"hold": LONG})
    made = hold_at_once(services, round, BATCH)
    looked = "SELECT seq_tup_read + idx_tup_fetch FROM pg_stat_xact_user_tables WHERE relname = "
    with services.engine.begin() as sql:
        before = sql.scalar(text(looked + "'units'"))
        units.release(sql, [each.id for each in made])
        assert sql.scalar(text(looked + "'units'")) - before <= 2 * len(made)
        assert sql.scalar(select(units.free(round))) == MANY


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_a_sweep_asks_often_for_the_file_that_others_lock(services: Services) -> None:
    """SQLite has no queue: a sweep that asks ten times a second finds the file locked each time."""
    round = services.rounds.start("apple", "sql_lock", 2, {"hold": LONG, "wait": 60_000})
    held = order(round)
    assert mode(services, round).sell(held).outcome is Outcome.SOLD
    runs_out(services, held)
    buyer = services.engine.connect()
    asked: list[str] = []

    @event.listens_for(services.engine, "before_cursor_execute")
    def note(_sql: Any, _cursor: Any, statement: str, *_more: Any) -> None:
        if statement == "BEGIN IMMEDIATE":
            asked.append(statement)
            if len(asked) == ATTEMPTS:
                buyer.rollback()

    buyer.exec_driver_sql("BEGIN IMMEDIATE")
    try:
        assert services.holds.sweep(round, 1) == 1
    finally:
        buyer.close()
    assert counted(services, round) == (2, 0, 0)
    assert len(asked) > ATTEMPTS
