"""A store that lacks what the books have seen sells nothing until that is accepted."""

from __future__ import annotations

import shutil
import threading
import time
from pathlib import Path

import pytest

from app.bootstrap import Parts
from app.config import Settings
from app.domain import DatabaseAway, Lacking, NotOnSale
from app.service.trust import TURN
from app.store import lacks
from tests.integration.trust.hands import killed, lastapple, sold
from tests.losing import cut, length, removed, restarted
from tests.selling import fulfil_all
from tests.servers import StoreServer, until


def test_a_first_start_opens_and_a_second_leaves_all_as_it_is(parts: Parts) -> None:
    assert "stocked  apple   100 units" in lastapple(parts, "prepare").stdout
    again = lastapple(parts, "prepare").stdout
    assert "stocked" not in again
    assert "!" not in again


def test_a_cut_log_with_everything_booked(parts: Parts, server: StoreServer) -> None:
    """Nobody is there who has seen more; the books have."""
    round = parts.rounds.start("apple", "atomic", 10, {})
    worker = parts.purchase()
    sold(worker, 3)
    end = length(server.folder)
    sold(worker, 1)
    keyed = worker.buy("apple", 1, key="k").sale.order
    fulfil_all(parts.fulfil)
    killed(parts, worker)
    restarted(server, lambda: cut(server.folder, end))
    said = "The store has lost sales of apple, round 1: it remembers 3, and 5 are booked."
    assert said in lastapple(parts, "prepare").stdout
    assert not parts.rounds.find("apple").running
    with pytest.raises(NotOnSale):
        parts.purchase().buy("apple", 1)
    with pytest.raises(Lacking, match=r"lastapple audit apple --accept"):
        parts.rounds.start("apple", "atomic", 10, {})
    audit = lastapple(parts, "audit")
    assert (audit.exit_code, said in " ".join(audit.stdout.split())) == (4, True)
    accepted = lastapple(parts, "audit", "--accept")
    assert (accepted.exit_code, said in accepted.stdout) == (0, True)
    assert "nothing to accept" in lastapple(parts, "audit", "--accept").stdout
    assert parts.rounds.start("apple", "atomic", 10, {}).number == 2
    worker = parts.purchase()
    assert worker.buy("apple", 1, key="k").sale.order == keyed, "the books have told it the keys"
    worker.tally.stop()
    fulfil_all(parts.fulfil)
    until(lambda: lastapple(parts, "audit").exit_code == 0)
    old = parts.auditor.audit(round)
    assert (old.verdict, said in old.sentence) == ("inconsistent", True), "for ever after"
    assert "!" not in lastapple(parts, "prepare").stdout


def test_fulfil_looks_when_it_meets_the_store_anew(parts: Parts, server: StoreServer) -> None:
    parts.rounds.start("apple", "atomic", 10, {})
    worker = parts.purchase()
    sold(worker, 1)
    end = length(server.folder)
    sold(worker, 1)
    fulfil_all(parts.fulfil)
    killed(parts, worker)
    stop = threading.Event()
    watch = threading.Thread(target=parts.trust.keep_watch, args=(stop,))
    watch.start()
    try:
        until(lambda: parts.servers.met)
        time.sleep(4 * TURN)  # it finds that all is well, and would look again in a minute
        restarted(server, lambda: cut(server.folder, end))
        parts.rounds.find("apple")  # as fulfil itself asks the store all the time
        until(lambda: lacks.look(parts.store, "apple").lack)
        until(lambda: not parts.rounds.find("apple").running)
    finally:
        stop.set()
        watch.join(10)


def test_the_newest_rounds_are_lost(parts: Parts, server: StoreServer) -> None:
    parts.rounds.start("apple", "atomic", 10, {})
    end = length(server.folder)
    for _ in range(2):
        parts.rounds.start("apple", "sql", 10, {})
    restarted(server, lambda: cut(server.folder, end))
    with pytest.raises(Lacking, match=r"it knows number 1, and there was a number 3\."):
        parts.rounds.start("apple", "atomic", 10, {})
    assert not parts.rounds.find("apple").running
    assert lastapple(parts, "audit", "--accept").exit_code == 0
    assert parts.rounds.start("apple", "atomic", 10, {}).number == 4


@pytest.mark.parametrize("booked", [False, True])
@pytest.mark.parametrize("emptied", ["flushed", "removed"])
def test_an_emptied_store_is_not_stocked_anew(
    parts: Parts, server: StoreServer, emptied: str, booked: bool
) -> None:
    parts.rounds.start("apple", "atomic", 10, {})
    worker = parts.purchase()
    sold(worker, 4)
    killed(parts, worker)
    if booked:
        fulfil_all(parts.fulfil)
    if emptied == "flushed":
        parts.store.flushall()
    else:
        restarted(server, lambda: removed(server.folder))
    said = "The store has lost every round of apple, of which number 1 was the newest"
    prepared = lastapple(parts, "prepare").stdout
    assert said in prepared
    assert "stocked  apple" not in prepared
    assert "stocked  pear" in prepared, "of which there never was any"
    audit = lastapple(parts, "audit")
    assert (audit.exit_code, said in audit.stdout) == (4, True)
    with pytest.raises(Lacking):
        parts.rounds.start("apple", "atomic", 10, {})
    assert lastapple(parts, "audit", "apple", "--accept").exit_code == 0
    assert "stocked  apple" in lastapple(parts, "prepare").stdout
    newest = parts.rounds.find("apple")
    audit_ = parts.auditor.audit(newest)
    assert (newest.number, audit_.orders, audit_.left, audit_.verdict) == (2, 0, 100, "untouched")


def test_the_database_is_away(parts: Parts) -> None:
    """A store that has rounds goes on with them; of an empty one only the books could tell."""
    parts.rounds.start("apple", "atomic", 10, {})
    with parts.engine.begin() as sql:
        sql.exec_driver_sql("ALTER TABLE orders RENAME TO elsewhere")
    assert parts.rounds.start("apple", "atomic", 10, {}).number == 2
    parts.store.flushall()
    with pytest.raises(DatabaseAway):
        parts.rounds.start("apple", "atomic", 10, {})


def test_a_database_without_tables_knows_nothing(settings: Settings, server: StoreServer) -> None:
    parts = Parts(settings)
    parts.store.flushall()
    assert [parts.rounds.start("apple", "atomic", 10, {}).number for _ in range(2)] == [1, 2]
    parts.store.connection_pool.disconnect()
    parts.engine.dispose()


def test_another_store_than_the_books_know(parts: Parts, tables: Path, tmp_path: Path) -> None:
    """Its numbers are high enough, and not ours."""
    parts.rounds.start("apple", "atomic", 10, {})
    parts.store.flushall()
    shutil.copy(tables, tmp_path / "theirs.db")
    others = f"sqlite:///{tmp_path / 'theirs.db'}"
    theirs = Parts(Settings(redis_url=parts.settings.redis_url, database_url=others))
    for _ in range(2):
        theirs.rounds.start("apple", "atomic", 10, {})
    theirs.store.connection_pool.disconnect()
    theirs.engine.dispose()
    with pytest.raises(Lacking, match="not the store that the books know"):
        parts.rounds.start("apple", "atomic", 10, {})
    assert lastapple(parts, "audit", "--accept").exit_code == 0
    assert parts.rounds.start("apple", "atomic", 10, {}).number == 3
    assert "nothing to accept" in lastapple(parts, "audit", "--accept").stdout
