"""Helpers for tests of holds: deadlines that expire when the test says so, and the one sum."""

from __future__ import annotations

from sqlalchemy import update

from app.bootstrap import Services
from app.domain import Order, Round
from app.modes import Way
from app.service.audit import judge
from app.service.verdict import Audit
from app.store.keys import Keys
from app.store.sql.holds import HoldRow

LONG = 600_000  # ms: longer than any test


def runs_out(services: Services, order: Order) -> None:
    """Let the deadline of a hold pass now, however long it was."""
    round = services.rounds.find(order.item, order.round)
    services.holds.look(order, round)  # it is entered with its deadline
    if Way.of(round.mode).in_database:
        with services.servers.sessions.begin() as sql:
            sql.execute(update(HoldRow).where(HoldRow.id == order.id).values(until=1))
    else:
        services.store.zadd(Keys(order.item, order.round).due, {order.id: 1})


def counted(services: Services, round: Round) -> tuple[int, int, int]:
    """Return (left, held, sold) by the audit, which must add up to the stocked units."""
    audit = added_up(services, round)
    return audit.left, audit.held, audit.sold


def added_up(services: Services, round: Round) -> Audit:
    # Not by `audit`, which waits for the workers' reports: these tests know whether all are quiet.
    audit = judge(round, services.rounds.ledgers.of(round).snapshot(round), [], quiet=True)
    assert audit.left + audit.held + audit.sold == audit.stocked, audit
    assert audit.verdict in ("exact", "untouched", "settling"), audit
    return audit
