"""A process that is frozen in a transaction loses it, so that other hosts continue."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from sqlalchemy import text

from app.bootstrap import Services
from app.config import Settings
from app.domain import Outcome
from app.service.booking import book
from app.store.sql import db, transactions
from tests.support import killed_sellers
from tests.support.forked_process import Forked
from tests.support.purchases import IN_DATABASE, mode, order
from tests.support.servers import until
from tests.support.sql_hooks import rows

RUNS_ON = ["valkey"]  # it plays no part here
IDLE_S = 1.0
pytestmark = [
    pytest.mark.usefixtures("database_url"),
    pytest.mark.parametrize("database_url", ["postgresql"], indirect=True),
]
each = pytest.mark.parametrize("name", IN_DATABASE)


@contextmanager
def frozen(deed: Any, *given: Any) -> Iterator[Forked]:
    """Run `deed` in a process until its first word, and stop it there."""
    process = Forked(deed, *given)
    try:
        process.says()
        process.freeze()
        yield process
    finally:
        process.close()


@each
def test_another_host_sells_what_a_frozen_seller_holds(
    services: Services, settings: Settings, name: str
) -> None:
    round = services.rounds.start("apple", name, 1, {"wait": 100})
    other = mode(services, round)
    with frozen(killed_sellers.frozen_in_mid_sale, settings, IDLE_S) as seller:
        until(lambda: other.sell(order(round)).outcome is Outcome.SOLD)
        seller.thaw()
        assert seller.ask("go on") == "BUSY", "it is told that nothing was sold"
    assert (rows(services), services.rounds.left(round)) == (1, 0)


@each
def test_the_next_round_begins(services: Services, settings: Settings, name: str) -> None:
    old = services.rounds.start("apple", name, 5, {})
    with frozen(killed_sellers.frozen_in_mid_sale, settings, IDLE_S) as seller:
        new = services.rounds.start("apple", "atomic", 5, {})
        seller.thaw()
        assert seller.ask("go on") == "BUSY"
    assert mode(services, new).sell(order(new, key="k")).outcome is Outcome.SOLD
    audit = services.auditor.audit(old)
    assert (audit.verdict, audit.sold, audit.left) == ("untouched", 0, 5)


@each
def test_a_seller_may_think_for_as_long_as_its_round_says(
    services: Services, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr(transactions, "IDLE_S", IDLE_S)
    round = services.rounds.start("apple", name, 5, {"think": 2_000})
    assert mode(services, round).sell(order(round)).outcome is Outcome.SOLD


def test_another_host_books_what_a_frozen_one_has_not_committed(
    services: Services, settings: Settings
) -> None:
    sold = order(services.rounds.start("apple", "atomic", 5, {}))
    with frozen(killed_sellers.frozen_before_its_commit, settings, sold, 1):
        assert not book(services.servers.sessions, {b"1": sold}, "atomic")
        assert rows(services) == 1


def test_preparing_a_database_may_take_longer(
    services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(db, "IDLE_S", 1)
    idle = text(
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() "
        "AND state = 'idle in transaction' AND now() - state_change > interval '2 s'"
    )

    def is_idle_for_two_seconds() -> bool:
        with services.engine.connect() as looker:
            return bool(looker.scalar(idle))

    with services.preparing():
        until(is_idle_for_two_seconds)
