"""A store that lacks records of the ledger sells nothing until the loss is accepted."""

from __future__ import annotations

import shutil
import threading
import time
from pathlib import Path

import pytest

from app.bootstrap import Services
from app.config import Settings
from app.domain import DatabaseAway, Lacking, NotOnSale, WrongPair
from app.service.consistency import TURN
from app.store import loss_marks
from tests.integration.trust.sellers import killed, lastapple, opened, sold
from tests.support.data_loss import cut, length, removed, restarted
from tests.support.purchases import fulfil_all
from tests.support.servers import StoreServer, until


def test_a_first_start_opens_and_a_second_leaves_all_as_it_is(services: Services) -> None:
    assert "stocked  apple   100 units" in lastapple(services, "prepare").stdout
    again = lastapple(services, "prepare").stdout
    assert "stocked" not in again
    assert "!" not in again


def test_a_cut_log_with_everything_booked(services: Services, server: StoreServer) -> None:
    """No worker has seen more; the ledger has."""
    round = services.rounds.start("apple", "atomic", 10, {})
    worker = services.purchase()
    sold(worker, 3)
    end = length(server.folder)
    sold(worker, 1)
    keyed = worker.buy("apple", 1, key="k").sale.order
    fulfil_all(services.fulfil)
    killed(services, worker)
    restarted(server, lambda: cut(server.folder, end))
    said = "The store has lost sales of apple, round 1: it remembers 3, and 5 are booked."
    assert said in lastapple(services, "prepare").stdout
    assert not services.rounds.find("apple").running
    with pytest.raises(NotOnSale):
        services.purchase().buy("apple", 1)
    with pytest.raises(Lacking, match=r"lastapple audit apple --accept"):
        services.rounds.start("apple", "atomic", 10, {})
    audit = lastapple(services, "audit")
    assert (audit.exit_code, said in " ".join(audit.stdout.split())) == (4, True)
    accepted = lastapple(services, "audit", "--accept")
    assert (accepted.exit_code, said in accepted.stdout) == (0, True)
    assert "nothing to accept" in lastapple(services, "audit", "--accept").stdout
    assert services.rounds.start("apple", "atomic", 10, {}).number == 2
    worker = services.purchase()
    assert worker.buy("apple", 1, key="k").sale.order == keyed, "the books have told it the keys"
    worker.reporter.stop()
    fulfil_all(services.fulfil)
    until(lambda: lastapple(services, "audit").exit_code == 0)
    old = services.auditor.audit(round)
    assert (old.verdict, said in old.sentence) == ("inconsistent", True), "for ever after"
    assert "!" not in lastapple(services, "prepare").stdout


def test_fulfil_looks_when_it_meets_the_store_anew(services: Services, server: StoreServer) -> None:
    worker = opened(services)
    sold(worker, 1)
    end = length(server.folder)
    sold(worker, 1)
    fulfil_all(services.fulfil)
    killed(services, worker)
    stop = threading.Event()
    watch = threading.Thread(target=services.consistency.keep_watch, args=(stop,))
    watch.start()
    try:
        until(lambda: services.servers.met)
        time.sleep(4 * TURN)  # it finds that all is well, and would check again in a minute
        restarted(server, lambda: cut(server.folder, end))
        services.rounds.find("apple")  # fulfil itself uses the store all the time, too
        until(lambda: loss_marks.look(services.store, "apple").lack)
        until(lambda: not services.rounds.find("apple").running)
    finally:
        stop.set()
        watch.join(10)


def test_the_newest_rounds_are_lost(services: Services, server: StoreServer) -> None:
    services.rounds.start("apple", "atomic", 10, {})
    end = length(server.folder)
    for _ in range(2):
        services.rounds.start("apple", "sql", 10, {})
    restarted(server, lambda: cut(server.folder, end))
    with pytest.raises(Lacking, match=r"its last is number 1, but there was a number 3\."):
        services.rounds.start("apple", "atomic", 10, {})
    assert not services.rounds.find("apple").running
    assert lastapple(services, "audit", "--accept").exit_code == 0
    assert services.rounds.start("apple", "atomic", 10, {}).number == 4


@pytest.mark.parametrize("booked", [False, True])
@pytest.mark.parametrize("emptied", ["flushed", "removed"])
def test_an_emptied_store_is_not_stocked_anew(
    services: Services, server: StoreServer, emptied: str, booked: bool
) -> None:
    worker = opened(services)
    sold(worker, 4)
    killed(services, worker)
    if booked:
        fulfil_all(services.fulfil)
    if emptied == "flushed":
        services.store.flushall()
    else:
        restarted(server, lambda: removed(server.folder))
    said = "The store has lost every round of apple, of which number 1 was the newest"
    prepared = lastapple(services, "prepare").stdout
    assert said in prepared
    assert "stocked  apple" not in prepared
    assert "stocked  pear" in prepared, "of which there never was any"
    audit = lastapple(services, "audit")
    assert (audit.exit_code, said in audit.stdout) == (4, True)
    with pytest.raises(Lacking):
        services.rounds.start("apple", "atomic", 10, {})
    assert lastapple(services, "audit", "apple", "--accept").exit_code == 0
    assert "stocked  apple" in lastapple(services, "prepare").stdout
    newest = services.rounds.find("apple")
    audit_ = services.auditor.audit(newest)
    assert (newest.number, audit_.orders, audit_.left, audit_.verdict) == (2, 0, 100, "untouched")


def test_the_database_is_away(services: Services) -> None:
    """A store that has rounds continues with them; only the ledger could tell whether an empty one
    may.
    """
    services.rounds.start("apple", "atomic", 10, {})
    with services.engine.begin() as sql:
        sql.exec_driver_sql("ALTER TABLE orders RENAME TO elsewhere")
    assert services.rounds.start("apple", "atomic", 10, {}).number == 2
    services.store.flushall()
    with pytest.raises(DatabaseAway):
        services.rounds.start("apple", "atomic", 10, {})


def test_a_database_that_nobody_has_made(settings: Settings, server: StoreServer) -> None:
    """Only `prepare` creates a database: a missing one may have been moved away."""
    services = Services(settings)
    services.store.flushall()
    with pytest.raises(DatabaseAway):
        services.rounds.start("apple", "atomic", 10, {})
    assert not services.readiness.look().ready
    assert not (settings.var / "orders.db").exists()
    assert lastapple(services, "prepare").exit_code == 0
    assert services.rounds.start("apple", "atomic", 10, {}).number == 2
    services.store.connection_pool.disconnect()
    services.engine.dispose()


def test_another_store_than_the_books_know(
    services: Services, tables: Path, tmp_path: Path
) -> None:
    """Its numbers are high enough, but it is another store."""
    services.rounds.start("apple", "atomic", 10, {})
    services.store.flushall()
    shutil.copy(tables, tmp_path / "theirs.db")
    others = f"sqlite:///{tmp_path / 'theirs.db'}"
    theirs = Services(Settings(redis_url=services.settings.redis_url, database_url=others))
    for _ in range(2):
        theirs.rounds.start("apple", "atomic", 10, {})
    with pytest.raises(WrongPair, match="Correct REDIS_URL, VAR_DIR"):
        services.rounds.start("apple", "atomic", 10, {})
    assert services.rounds.find("apple").running, "it is theirs"
    assert lastapple(services, "audit", "--accept").exit_code == 1
    said = lastapple(services, "pair")
    assert (said.exit_code, "Correct REDIS_URL, VAR_DIR" in said.stdout) == (4, True)
    assert "Paired: apple." in lastapple(services, "pair", "--yes").stdout
    assert services.rounds.start("apple", "atomic", 10, {}).number == 3
    assert "Store and database match." in lastapple(services, "pair").stdout
    with pytest.raises(WrongPair):
        theirs.rounds.start("apple", "atomic", 10, {})
    theirs.store.connection_pool.disconnect()
    theirs.engine.dispose()
