"""A store and a database that do not match sell nothing and move nothing."""

from __future__ import annotations

import shutil
import threading
from pathlib import Path

import pytest

from app import create_shop
from app.bootstrap import Services
from app.config import Settings
from app.domain import DatabaseAway, NotOnSale, Outcome, ShopError, WrongPair
from app.service import readiness
from app.store import keys, orders
from app.store.keys import Keys
from tests.integration.trust.hands import killed, lastapple, sold
from tests.selling import at_once, fulfil_all
from tests.servers import until


@pytest.fixture
def other(services: Services, tables: Path, tmp_path: Path) -> Services:
    """A second host: the same store, and a new database of its own."""
    folder = tmp_path / "other"
    folder.mkdir()
    shutil.copy(tables, folder / "orders.db")
    return Services(Settings(redis_url=services.settings.redis_url, var_dir=str(folder)))


def database(services: Services) -> Path:
    return services.settings.var / "orders.db"


def moved_away(services: Services) -> None:
    """With its write-ahead log, which would be taken for that of the next file."""
    for part in ("", "-wal", "-shm"):
        file = database(services).with_name(f"orders.db{part}")
        file.rename(file.with_name(f"away.db{part}"))


def waiting(services: Services) -> int:
    return services.store.xlen(Keys("apple", 1).sales)


def booked(services: Services) -> int:
    with services.servers.sessions() as session:
        return orders.count(session, "apple", 1).orders


def unready(services: Services) -> str:
    """The sentence of the first check that fails."""
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
    other.trust.pairing.watch(threading.Event())
    fulfil_all(other.fulfil)
    assert (waiting(services), booked(other)) == (2, 0)
    for words in (("round", "start", "apple", "--stock", "5"), ("audit",), ("audit", "--repair")):
        said = lastapple(other, *words)
        assert (said.exit_code, "Correct VAR_DIR" in said.output) == (1, True), words
    assert services.rounds.find("apple").running, "the first host sells on"
    sold(worker, 1)
    fulfil_all(services.fulfil)
    assert (waiting(services), booked(services)) == (0, 3)
    assert unready(services) == ""


@pytest.mark.parametrize("mode", ["atomic", "sql"])
def test_the_database_was_emptied(services: Services, tables: Path, mode: str) -> None:
    services.rounds.start("apple", mode, 10, {})
    worker = services.purchase()
    sold(worker, 3)
    fulfil_all(services.fulfil)
    killed(services, worker)
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
    services.rounds.start("apple", "atomic", 10, {})
    worker = services.purchase()
    sold(worker, 2)
    fulfil_all(services.fulfil)
    assert booked(services) == 2
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
    assert booked(services) == 3
    assert readiness.Readiness(services.servers, services.trust.pairing).look().ready


def test_another_file_was_put_in_its_place_under_a_running_shop(
    services: Services, tables: Path
) -> None:
    services.rounds.start("apple", "atomic", 10, {})
    worker = services.purchase()
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
    assert (waiting(services), booked(services)) == (wait, 0)


def test_two_hosts_with_databases_of_their_own_start_at_once(
    services: Services, other: Services
) -> None:
    """One of them has the store."""

    def start(host: Services) -> bool:
        try:
            host.rounds.start("apple", "atomic", 10, {})
        except ShopError:
            return False
        return True

    assert sorted(at_once([lambda: start(services), lambda: start(other)])) == [False, True]


def test_two_hosts_with_one_database_start_at_once(services: Services) -> None:
    hosts = [services, Services(services.settings)]
    said = at_once([lambda host=host: lastapple(host, "prepare").output for host in hosts])  # type: ignore[misc]
    assert not any("!" in each for each in said)
    for host in hosts:
        assert host.purchase().buy("apple", 1).sale.outcome is Outcome.SOLD


def test_a_database_of_another_item_is_no_database_of_this_one(services: Services) -> None:
    """On a cluster each item has its node."""
    services.rounds.start("apple", "atomic", 10, {})
    services.store.set(keys.database("pear"), "another")
    with pytest.raises(WrongPair):
        services.rounds.start("pear", "atomic", 10, {})
    assert services.rounds.start("apple", "atomic", 10, {}).number == 2
