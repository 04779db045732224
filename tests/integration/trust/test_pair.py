"""A store and a database that do not match sell nothing and move nothing."""

from __future__ import annotations

import shutil
import threading
from pathlib import Path

import pytest

from app import create_shop
from app.bootstrap import Services
from app.config import Settings
from app.domain import ITEMS, DatabaseAway, NotOnSale, Outcome, ShopError, WrongPair
from app.ops import readiness
from app.store import keys
from app.store.keys import Keys
from tests.integration.trust.sellers import booked, lastapple, opened, sold
from tests.support.purchases import at_once, fulfil_all
from tests.support.servers import until
from tests.support.sql_hooks import rows


@pytest.fixture
def other(services: Services, tables: Path, tmp_path: Path) -> Services:
    """A second host: the same store, and a new database of its own."""
    folder = tmp_path / "other"
    folder.mkdir()
    shutil.copy(tables, folder / "orders.db")
    settings = services.settings
    return Services(Settings(settings.redis_url, var_dir=str(folder), store_timeout=3_000))


def database(services: Services) -> Path:
    return services.settings.var / "orders.db"


def moved_away(services: Services) -> None:
    """Move the database away with its write-ahead log, which the next file would use otherwise."""
    for part in ("", "-wal", "-shm"):
        file = database(services).with_name(f"orders.db{part}")
        file.rename(file.with_name(f"away.db{part}"))


def waiting(services: Services) -> int:
    return services.store.xlen(Keys("apple", 1).sales)


def unready(services: Services) -> str:
    """Return the text of the first check that fails."""
    failing = [each for each in services.readiness.look().checks if each.state == "failing"]
    return str(failing[0].sentence) if failing else ""


def test_a_second_host_with_a_database_of_its_own(services: Services, other: Services) -> None:
    assert lastapple(services, "prepare").exit_code == 0
    worker = services.purchase()
    sold(worker, 2)
    prepared = lastapple(other, "prepare")
    assert "Correct VAR_DIR" in prepared.output
    assert "stocked" not in prepared.output
    assert "Correct VAR_DIR" in unready(other)
    with pytest.raises(NotOnSale):
        other.purchase().buy("apple", 1)
    refused = create_shop(other.settings).test_client().post("/buy/apple", json={"quantity": 1})
    assert refused.status_code == 409
    other.consistency.pairing.watch(threading.Event())
    fulfil_all(other.fulfil)
    assert (waiting(services), rows(other)) == (2, 0)
    for words in (("round", "start", "apple", "--stock", "5"), ("audit",), ("audit", "--repair")):
        said = lastapple(other, *words)
        assert (said.exit_code, "Correct VAR_DIR" in said.output) == (1, True), words
    assert services.rounds.find("apple").running, "the first host sells on"
    sold(worker, 1)
    fulfil_all(services.fulfil)
    assert (waiting(services), rows(services)) == (0, 3)
    assert unready(services) == ""


@pytest.mark.parametrize("mode", ["atomic", "sql"])
def test_the_database_was_emptied(services: Services, tables: Path, mode: str) -> None:
    booked(services, 3, mode)
    services.engine.dispose()
    shutil.copy(tables, database(services))
    again = Services(services.settings)
    assert "Correct VAR_DIR" in lastapple(again, "prepare").output
    assert "Correct VAR_DIR" in unready(again)
    with pytest.raises(NotOnSale):
        again.purchase().buy("apple", 1)
    audit = lastapple(again, "audit")
    assert (audit.exit_code, "Correct VAR_DIR" in audit.output) == (1, True)


def test_the_file_was_moved_away_under_a_running_shop(services: Services) -> None:
    worker = opened(services)
    sold(worker, 2)
    fulfil_all(services.fulfil)
    assert rows(services) == 2
    database(services).rename(database(services).with_name("away.db"))
    sold(worker, 1)
    assert "The database does not answer" in unready(services)
    stopped = threading.Event()
    mover = threading.Thread(target=services.fulfil.run, args=(stopped,))
    mover.start()
    try:
        with pytest.raises(DatabaseAway):
            services.auditor.audit(services.rounds.find("apple"))
        assert waiting(services) == 1, "it waits in the store"
        assert not database(services).exists(), "nothing is made in its place"
        database(services).with_name("away.db").rename(database(services))
        until(lambda: waiting(services) == 0)
    finally:
        stopped.set()
        mover.join()
    assert rows(services) == 3
    assert readiness.Readiness(services.servers).look().ready


def test_another_file_was_put_in_its_place_under_a_running_shop(
    services: Services, tables: Path
) -> None:
    worker = opened(services)
    sold(worker, 2)
    fulfil_all(services.fulfil)
    moved_away(services)
    shutil.copy(tables, database(services))

    def refuses() -> bool:
        try:
            worker.buy("apple", 1)
        except NotOnSale:
            return True
        return False

    until(refuses)
    assert "Correct VAR_DIR" in unready(services)
    wait = waiting(services)
    fulfil_all(services.fulfil)
    assert (waiting(services), rows(services)) == (wait, 0)


def as_before(*hosts: Services) -> None:
    """Restore the state of the version before pairs: the database knew the store, and no more."""
    hosts[0].store.delete(*(keys.database(item) for item in ITEMS), keys.booked("apple"))
    for host in hosts:
        with host.engine.begin() as sql:
            sql.exec_driver_sql("DROP TABLE identity")
            sql.exec_driver_sql("DROP INDEX units_by_order")
            sql.exec_driver_sql("UPDATE alembic_version SET version_num = '0012'")


@pytest.mark.parametrize("knows", ["its store", "a round"])
def test_an_older_version_left_a_pair(services: Services, knows: str) -> None:
    booked(services, 2)
    as_before(services)
    if knows == "a round":
        with services.engine.begin() as sql:
            sql.exec_driver_sql("DELETE FROM begun")
        services.store.delete(keys.identity("apple"))
    assert "!" not in lastapple(services, "prepare").output
    sold(services.purchase(), 1)
    fulfil_all(services.fulfil)
    assert rows(services) == 3
    assert unready(services) == ""


def test_an_older_version_left_a_store_and_a_stranger(services: Services, other: Services) -> None:
    """Both begin with round 1, and it is not the same one."""
    services.rounds.start("apple", "atomic", 10, {})
    services.store.flushall()
    other.rounds.start("apple", "atomic", 10, {})
    as_before(services, other)
    assert "Correct REDIS_URL" in lastapple(services, "prepare").output
    assert "!" not in lastapple(other, "prepare").output
    assert other.rounds.start("apple", "atomic", 10, {}).number == 2


def test_two_hosts_with_copies_of_an_older_database(services: Services, other: Services) -> None:
    """Both databases share a round with the store: one of them is paired."""
    services.rounds.start("apple", "atomic", 10, {})
    as_before(services)
    services.engine.dispose()
    shutil.copy(database(services), database(other))
    hosts = [services, other]
    for host in hosts:
        host.migrate()
    said = at_once([host.consistency.look_at_all for host in hosts])
    assert sorted(map(len, said)) == [0, 1], said
    for host, each in zip(hosts, said, strict=True):
        assert ("Correct" in unready(host)) == bool(each)


def test_a_store_meets_a_database_without_its_rounds(services: Services, other: Services) -> None:
    services.rounds.start("apple", "atomic", 10, {})
    as_before(services)
    assert "Correct REDIS_URL, VAR_DIR" in lastapple(other, "prepare").output
    assert "!" not in lastapple(services, "prepare").output


def test_nothing_that_is_held_is_paid_for_or_given_up(services: Services, other: Services) -> None:
    services.rounds.start("apple", "atomic", 10, {"hold": 60_000})
    order = services.purchase().buy("apple", 1).sale.order
    assert order
    there = create_shop(other.settings).test_client()
    for deed in ("pay", "cancel"):
        refused = there.post(f"/orders/{order.id}/{deed}", json={})
        assert (refused.status_code, refused.get_json()["type"]) == (409, "/contract#wrong-pair")
    here = create_shop(services.settings).test_client()
    assert here.post(f"/orders/{order.id}/pay", json={}).status_code == 201


def test_a_move_to_a_new_database(services: Services, other: Services) -> None:
    """The new database's missing orders are reported, and restored from the store."""
    booked(services, 2)
    moved = lastapple(other, "pair", "--yes")
    assert "Paired: apple." in moved.stdout
    assert "it confirmed 2 to the store, and has 0" in moved.stdout
    assert "Correct" in lastapple(services, "pair").stdout
    assert "Mended." in lastapple(other, "audit", "--repair", "--yes").stdout
    assert rows(other) == 2
    assert other.rounds.start("apple", "atomic", 10, {}).number == 2


def test_a_move_to_a_new_store(services: Services) -> None:
    """It counts as emptied: the command that accepts that pairs them, too."""
    services.rounds.start("apple", "atomic", 10, {})
    services.store.flushall()
    assert "Paired" not in lastapple(services, "pair", "--yes").stdout
    assert lastapple(services, "audit", "--accept").exit_code == 0
    assert services.rounds.start("apple", "atomic", 10, {}).number == 2
    assert "Store and database match." in lastapple(services, "pair").stdout


def test_two_hosts_with_databases_of_their_own_start_at_once(
    services: Services, other: Services
) -> None:
    """One of them gets the store."""

    def start(host: Services) -> bool:
        try:
            host.rounds.start("apple", "atomic", 10, {})
        except ShopError:
            return False
        return True

    assert sorted(at_once([lambda: start(services), lambda: start(other)])) == [False, True]


def test_two_hosts_with_one_database_start_at_once(services: Services) -> None:
    hosts = [services, Services(services.settings)]
    assert at_once([host.consistency.look_at_all for host in hosts]) == [[], []]
    services.rounds.start("apple", "atomic", 10, {})
    for host in hosts:
        assert host.purchase().buy("apple", 1).sale.outcome is Outcome.SOLD


def test_a_database_of_another_item_is_no_database_of_this_one(services: Services) -> None:
    """On a cluster each item has its node."""
    services.rounds.start("apple", "atomic", 10, {})
    services.store.set(keys.database("pear"), "another")
    with pytest.raises(WrongPair):
        services.rounds.start("pear", "atomic", 10, {})
    assert services.rounds.start("apple", "atomic", 10, {}).number == 2
