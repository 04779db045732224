"""A database that comes back with fewer orders than the store has dropped has lost some."""

from __future__ import annotations

import shutil
import sqlite3
import threading
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import delete

from app.bootstrap import Services
from app.domain import Lacking, NotOnSale, Round
from app.service.purchase import Purchase
from app.store import dead_letters, keys, loss_marks, sales
from app.store.keys import Keys
from app.store.sql.orders import OrderRow
from app.store.sql.stock import Receipt
from tests.integration.trust.sellers import killed, lastapple, opened, sold
from tests.support.purchases import IN_DATABASE, fulfil_all
from tests.support.servers import until


def backup(services: Services) -> Path:
    """Copy the database while the shop runs; return the copy."""
    file = services.settings.var / "backup.db"
    with (
        closing(sqlite3.connect(services.settings.var / "orders.db")) as now,
        closing(sqlite3.connect(file)) as copy,
    ):
        now.backup(copy)
    return file


def restore(services: Services, file: Path) -> None:
    """Put the file in place of the database, whose write-ahead log is removed."""
    services.engine.dispose()
    for part in ("-wal", "-shm"):
        (services.settings.var / f"orders.db{part}").unlink(missing_ok=True)
    shutil.copy(file, services.settings.var / "new.db")
    (services.settings.var / "new.db").rename(services.settings.var / "orders.db")


def confirmed(services: Services, round: Round) -> int:
    return loss_marks.booked(services.store, "apple").get(round.number, 0)


def robbed(services: Services, mode: str = "atomic", **terms: int) -> tuple[Round, Purchase]:
    """A round with two orders in a backup, and three more that are not in it."""
    round = services.rounds.start("apple", mode, 10, terms)
    worker = services.purchase()
    sold(worker, 2)
    fulfil_all(services.fulfil)
    copy = backup(services)
    sold(worker, 2)
    worker.buy("apple", 1, key="a-key")
    fulfil_all(services.fulfil)
    until(lambda: confirmed(services, round) == 5)
    killed(services, worker)
    restore(services, copy)
    return round, worker


@pytest.mark.parametrize("mode", ["atomic", "sql"])
def test_a_restored_backup(services: Services, mode: str) -> None:
    robbed(services, mode)
    said = "The database has lost orders of apple, round 1: it confirmed 5 to the store, and has 2."
    assert said in lastapple(services, "prepare").stdout
    assert not services.rounds.find("apple").running
    with pytest.raises(NotOnSale):
        services.purchase().buy("apple", 1)
    with pytest.raises(Lacking, match=r"lastapple audit apple --accept"):
        services.rounds.start("apple", "atomic", 10, {})
    audit = lastapple(services, "audit")
    assert (audit.exit_code, said in " ".join(audit.stdout.split())) == (4, True)
    figures = [" ".join(line.split()) for line in audit.stdout.splitlines()]
    assert any(line.startswith("Duplicate ids 0") for line in figures)
    assert any(line.startswith("Orders lost 3") for line in figures)
    assert any(
        said == check.sentence.partition(" Nothing")[0]
        for check in services.readiness.look().checks
    )
    accepted = lastapple(services, "audit", "--accept")
    assert (accepted.exit_code, said in accepted.stdout) == (0, True)
    assert services.rounds.start("apple", "atomic", 10, {}).number == 2
    assert "!" not in lastapple(services, "prepare").stdout
    assert services.auditor.audit(services.rounds.find("apple", 1)).verdict == "inconsistent"


def test_fulfil_looks_when_it_meets_the_database_anew(services: Services) -> None:
    worker = opened(services)
    sold(worker, 1)
    copy = backup(services)
    fulfil_all(services.fulfil)
    stop = threading.Event()
    watch = threading.Thread(target=services.consistency.keep_watch, args=(stop,))
    watch.start()
    try:
        restore(services, copy)
        sold(worker, 1)
        fulfil_all(services.fulfil)  # opens the new file
        until(lambda: not services.rounds.find("apple").running)
    finally:
        stop.set()
        watch.join()


def test_the_store_brings_back_what_it_has_let_go_of(services: Services) -> None:
    """The store keeps each sale under its key for a day."""
    round, _ = robbed(services)
    said = lastapple(services, "audit", "--repair")
    assert said.exit_code == 4
    assert "3 orders come back into the database" in said.stdout
    mended = lastapple(services, "audit", "--repair", "--yes")
    assert (mended.exit_code, "Mended." in mended.stdout) == (0, True)
    audit = services.auditor.audit(round)
    assert (audit.orders, audit.sold, audit.orders_lost, audit.duplicate_ids) == (5, 5, 0, 0)
    assert "nothing to mend" in lastapple(services, "audit", "--repair").stdout
    services.rounds.start("apple", "atomic", 10, {})
    again = services.purchase().buy("apple", 1, key="a-key").sale.order
    assert again
    assert again.round == 1
    with services.servers.sessions() as session:
        assert session.get(Receipt, ("apple", "a-key"))


def test_what_the_store_has_forgotten_stays_lost(services: Services) -> None:
    round, _ = robbed(services)
    services.store.delete(Keys("apple", 1).key("a-key"))
    said = lastapple(services, "audit", "--repair", "--yes").stdout
    assert "2 orders come back into the database" in said
    assert "1 order is lost" in said
    audit = services.auditor.audit(round)
    assert (audit.orders, audit.orders_lost, audit.verdict) == (4, 1, "inconsistent")


def test_the_stock_of_a_round_that_sells_there_is_lost(services: Services) -> None:
    services.rounds.start("apple", "atomic", 10, {})
    copy = backup(services)
    round = services.rounds.start("apple", "sql", 10, {})
    restore(services, copy)
    said = "The database has lost the stock of apple, round 2, which sells there."
    assert said in lastapple(services, "prepare").stdout
    assert not services.rounds.find("apple").running
    assert lastapple(services, "audit", "--repair", "--yes").exit_code == 0
    assert services.auditor.audit(round).left == 10
    assert services.rounds.start("apple", "sql", 10, {}).number == 3


def test_an_order_is_counted_once(services: Services) -> None:
    """Also where two fulfils drop it from the store, or an exhibit has sold it twice."""
    round = services.rounds.start("apple", "atomic", 10, {})
    worker = services.purchase()
    order = worker.buy("apple", 1).sale.order
    assert order
    names = Keys.of(round)
    services.store.xadd(names.sales, {"sale": order.encode()})
    fulfil_all(services.fulfil)
    assert confirmed(services, round) == 1
    sales.let_go(services.store, names, {b"1-1": order})
    assert confirmed(services, round) == 1


def test_a_dead_letter_that_is_booked_after_all_is_counted(services: Services) -> None:
    round = services.rounds.start("apple", "atomic", 10, {})
    worker = services.purchase()
    order = worker.buy("apple", 1).sale.order
    assert order
    names = Keys.of(round)
    entries: Any = services.store.xrange(names.sales)
    [(id, fields)] = entries
    dead_letters.add(services.store, names, id, fields, "for a test", 0, "")
    assert confirmed(services, round) == 0
    [letter] = services.dead_letters.every("apple")
    assert services.dead_letters.retry(letter) == ""
    assert confirmed(services, round) == 1
    assert services.dead_letters.every("apple") == []


@pytest.mark.parametrize("mode", [name for name in IN_DATABASE if name != "sql_units"])
def test_orders_of_rounds_in_the_database_are_counted(services: Services, mode: str) -> None:
    round = services.rounds.start("apple", mode, 10, {"hold": 60_000})
    worker = services.purchase()
    order = worker.buy("apple", 1).sale.order
    assert order
    services.consistency.look("apple")
    assert confirmed(services, round) == 0, "it is held"
    for _ in range(2):
        services.holds.pay(order)
    services.consistency.look("apple")
    assert confirmed(services, round) == 1


def test_rows_that_somebody_has_deleted(services: Services) -> None:
    """Deleted rows of an older round are found when the round is audited."""
    round = services.rounds.start("apple", "atomic", 10, {})
    worker = services.purchase()
    sold(worker, 3)
    fulfil_all(services.fulfil)
    services.store.set(keys.accepted("apple"), 1)  # not checked any more, as after 20 rounds
    with services.engine.begin() as sql:
        sql.execute(delete(OrderRow))
    services.rounds.end("apple")
    audit = services.auditor.audit(round)
    assert (audit.orders_lost, audit.duplicate_ids, audit.verdict) == (3, 0, "inconsistent")
    assert audit.sentence == "Sold 0 of 10, 7 left, and the database has lost 3 orders."
