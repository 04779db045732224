"""A store that lacks what the books or a worker have seen sells nothing until that is accepted."""

from __future__ import annotations

import shutil
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import redis
from click.testing import CliRunner, Result
from flask.testing import FlaskClient

from app import create_lab, create_shop
from app.cli import main
from app.config import SETTINGS, Settings
from app.domain import DatabaseAway, Lacking, NotOnSale, Outcome, Round, StoreAway
from app.parts import Parts
from app.service.audit import Audit
from app.service.purchase import Purchase
from app.service.trust import TURN
from app.store import lacks
from tests.losing import cut, length, removed, restarted
from tests.selling import fulfil_all
from tests.servers import StoreServer, until

SOLD = Outcome.SOLD


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StoreServer]:
    server = StoreServer(tmp_path_factory.mktemp("loses"))
    yield server
    server.stop()


@pytest.fixture
def settings(server: StoreServer, tmp_path: Path) -> Settings:
    return Settings(redis_url=server.url, var_dir=str(tmp_path), store_timeout=3_000)


@pytest.fixture
def parts(settings: Settings, tables: Path) -> Iterator[Parts]:
    """A shop of its own over an empty store and an empty database."""
    shutil.copy(tables, Path(settings.var_dir) / "orders.db")
    parts = Parts(settings)
    parts.store.flushall()
    yield parts
    parts.store.connection_pool.disconnect()
    parts.engine.dispose()


def sold(worker: Purchase, times: int) -> None:
    for _ in range(times):
        assert worker.buy("apple", 1).sale.outcome is SOLD


def settled(parts: Parts, round: Round) -> Audit:
    until(lambda: parts.auditor.audit(round).settled)
    return parts.auditor.audit(round)


def killed(parts: Parts, worker: Purchase) -> None:
    """It remembers nothing any more."""
    worker.tally.stop()
    parts.servers.met.clear()


def lastapple(parts: Parts, *words: str) -> Result:
    unset: dict[str, str | None] = {row.name.upper(): None for row in SETTINGS}
    own = {"REDIS_URL": parts.settings.redis_url, "VAR_DIR": parts.settings.var_dir}
    return CliRunner(env=unset | own).invoke(main, words)


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


def test_a_cut_log_with_nothing_booked_and_a_worker_that_lives(
    parts: Parts, server: StoreServer
) -> None:
    round = parts.rounds.start("apple", "watch", 10, {})
    worker = parts.purchase()
    sold(worker, 3)
    end = length(server.folder)
    lost = worker.buy("apple", 1).sale.order
    restarted(server, lambda: cut(server.folder, end))
    with pytest.raises((StoreAway, NotOnSale)):
        worker.buy("apple", 1)
    with pytest.raises(NotOnSale):
        worker.buy("apple", 1)
    assert lost
    said = f"of which a customer was told: order {lost.id}."
    assert said in " ".join(lastapple(parts, "audit").stdout.split())
    fulfil_all(parts.fulfil)
    audit = parts.auditor.audit(round)
    assert (audit.verdict, audit.sold, said in audit.sentence) == ("inconsistent", 3, True)
    assert lastapple(parts, "audit", "--accept").exit_code == 0
    parts.rounds.start("apple", "watch", 10, {})
    sold(worker, 1)
    fulfil_all(parts.fulfil)
    newest = settled(parts, parts.rounds.find("apple"))
    assert (newest.round, newest.verdict, newest.sold) == (2, "exact", 1)


def test_what_several_threads_were_told_of_is_asked_for(parts: Parts, server: StoreServer) -> None:
    """The last of them to note a sale need not have made the last one."""
    parts.rounds.start("apple", "atomic", 10, {})
    worker = parts.purchase()
    sold(worker, 1)
    end = length(server.folder)
    first, told = worker.witness.told["apple"][0], worker.witness.told["apple"]
    sold(worker, 1)
    told.append(first)
    restarted(server, lambda: cut(server.folder, end))
    with pytest.raises((StoreAway, NotOnSale)):
        worker.buy("apple", 1)
    assert lacks.look(parts.store, "apple").lack


def test_as_long_as_it_cannot_be_marked_no_connection_is_used(
    parts: Parts, server: StoreServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    parts.rounds.start("apple", "atomic", 10, {})
    worker = parts.purchase()
    sold(worker, 1)
    end = length(server.folder)
    sold(worker, 1)

    def away(*_: object) -> bool:
        raise redis.ConnectionError("it takes no writes")

    with monkeypatch.context() as hand:
        hand.setattr(lacks, "mark", away)
        restarted(server, lambda: cut(server.folder, end))
        for _ in range(5):
            with pytest.raises(StoreAway):
                worker.buy("apple", 1)
    with pytest.raises((StoreAway, NotOnSale)):
        worker.buy("apple", 1)
    with pytest.raises(NotOnSale):
        worker.buy("apple", 1)


def test_a_store_that_comes_back_with_everything_sells_on(
    parts: Parts, server: StoreServer
) -> None:
    parts.rounds.start("apple", "lock:lease", 10, {})
    parts.rounds.start("pear", "sql", 10, {})
    worker = parts.purchase()
    sold(worker, 3)
    worker.buy("pear", 1)
    fulfil_all(parts.fulfil)
    sold(worker, 1)
    restarted(server, lambda: None)
    until(lambda: _sold(worker))
    assert "!" not in lastapple(parts, "prepare").stdout


def _sold(worker: Purchase) -> bool:
    try:
        return worker.buy("apple", 1).sale.outcome is SOLD
    except StoreAway:
        return False


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
    assert (newest.number, audit_.orders, audit_.left, audit_.verdict) == (2, 0, 100, "exact")


@pytest.mark.parametrize("emptied", ["flushed", "removed"])
def test_a_store_emptied_under_a_worker_that_lives(
    parts: Parts, server: StoreServer, emptied: str
) -> None:
    """Flushed, its connection stays open: what it finds is that its round is gone."""
    round = parts.rounds.start("apple", "atomic", 10, {})
    worker = parts.purchase()
    sold(worker, 2)
    if emptied == "flushed":
        parts.store.flushall()
    else:
        restarted(server, lambda: removed(server.folder))
    with pytest.raises((StoreAway, NotOnSale)):
        worker.buy("apple", 1)
    lack = lacks.look(parts.store, "apple").lack
    assert lack
    assert (lack.loss, lack.round) == ("emptied", round.number)


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


@pytest.fixture
def lab(settings: Settings, parts: Parts) -> FlaskClient:
    return create_lab(settings).test_client()


def test_lab_and_shop_say_so(parts: Parts, settings: Settings, lab: FlaskClient) -> None:
    shop = create_shop(settings).test_client()
    parts.rounds.start("apple", "atomic", 10, {})
    parts.rounds.start("pear", "atomic", 10, {})
    parts.store.flushall()
    assert lastapple(parts, "prepare").exit_code == 0
    page = lab.get("/", headers={"Accept": "text/html"}).text
    assert "The store has lost every round of apple" in page
    page = lab.get("/", headers={"Accept": "text/html", "Accept-Language": "zh"}).text
    assert (
        "存储丢失了 apple 的所有场次（最新的是第 1 场）：它被清空了。以下商品的数据也有丢失："
        in page
    )
    ready = lab.get("/readyz").get_json()
    said = next(check for check in ready["checks"] if check["name"] == "store")
    assert (said["state"], "of these, too: pear" in said["sentence"]) == ("unwell", True)
    for path in ("/rounds/apple", "/rounds/apple/1", "/rounds/apple/1/audit"):
        problem = lab.get(path, headers={"Accept": "application/json"})
        assert (problem.status_code, problem.get_json()["title"]) == (
            409,
            "The store has lost something",
        )
        assert "lastapple audit apple --accept" in problem.get_json()["detail"]
    apple = shop.get("/items").get_json()[0]
    assert (apple["slug"], apple["on_sale"]) == ("apple", False)
    assert shop.post("/buy/apple", json={}).status_code == 409
