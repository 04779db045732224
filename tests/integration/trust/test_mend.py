"""A store that has lost something is repaired from the ledger, and no unit is sold twice."""

from __future__ import annotations

import json
from typing import Any

import pytest
from sqlalchemy import delete, update

from app.bootstrap import Services
from app.domain import Lack, Lacking, Loss, NotOnSale, ShopError, Stands, StoreAway
from app.domain.records import VERSION
from app.store import keys, loss_marks, round_repair
from app.store.keys import Keys
from app.store.sql.begun_rounds import RoundRow
from tests.integration.trust.sellers import booked, bought, killed, lastapple, opened, sold
from tests.support.data_loss import cut, length, removed, restarted
from tests.support.purchases import at_once, fulfil_all, order
from tests.support.servers import StoreServer, until

MODES = ["atomic", "lock:lease", "decr"]


def repaired(services: Services, *more: str) -> dict[str, Any]:
    done = lastapple(services, "audit", "apple", "--repair", "--json", *more)
    assert done.exit_code in (0, 4), done.output
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def settled(services: Services, number: int) -> Any:
    round = services.rounds.find("apple", number)
    until(lambda: services.auditor.audit(round).settled)
    return services.auditor.audit(round)


def sells_on(services: Services, number: int) -> None:
    assert services.rounds.start("apple", "atomic", 10, {}).number == number
    worker = services.purchase()
    sold(worker, 2)
    fulfil_all(services.fulfil)
    audit = settled(services, number)
    assert (audit.verdict, audit.sold, audit.left) == ("exact", 2, 8)
    worker.reporter.stop()


@pytest.mark.parametrize("name", MODES)
def test_a_cut_log_of_which_all_was_booked(
    services: Services, server: StoreServer, name: str
) -> None:
    worker = opened(services, name)
    sold(worker, 3)
    end = length(server.folder)
    kept = bought(worker, "k")
    sold(worker, 1)
    fulfil_all(services.fulfil)
    killed(services, worker)
    restarted(server, lambda: cut(server.folder, end))
    (round,) = repaired(services)["rounds"]
    assert (round["sold"], round["left_before"], round["left"]) == (5, 7, 5)
    assert loss_marks.look(services.store, "apple").lack, "only said"
    said = lastapple(services, "audit", "--repair")
    assert (said.exit_code, "5 of 10 sold (5 booked); left was 7, becomes 5" in said.stdout) == (
        4,
        True,
    )
    assert repaired(services, "--yes")["mended"]
    fulfil_all(services.fulfil)
    audit = settled(services, 1)
    assert (audit.sold, audit.left, audit.orders, audit.broken) == (5, 5, 5, 0)
    assert audit.verdict == "inconsistent", "for ever after"
    assert "Mended: 5 orders from the books." in audit.sentence
    assert "nothing to mend" in lastapple(services, "audit", "--repair", "--yes").stdout
    sells_on(services, 2)
    again = services.purchase()
    assert bought(again, "k") == kept
    again.reporter.stop()


def test_what_a_worker_had_told_comes_back(services: Services, server: StoreServer) -> None:
    """The sale is neither in the store nor in the ledger; the worker that confirmed it lives."""
    worker = opened(services)
    sold(worker, 3)
    end = length(server.folder)
    lost = [bought(worker, key) for key in ("a", "b")]
    restarted(server, lambda: cut(server.folder, end))
    with pytest.raises((StoreAway, NotOnSale)):
        worker.buy("apple", 1)
    (round,) = repaired(services, "--yes")["rounds"]
    assert set(round["brought_back"]) == {order.id for order in lost}
    fulfil_all(services.fulfil)
    audit = settled(services, 1)
    assert (audit.sold, audit.left, audit.orders, audit.broken) == (5, 5, 5, 0)
    assert [services.order_lookup.find(order.id).confirmed for order in lost] == [True, True]
    assert "2 sales that workers still knew" in audit.sentence
    assert not services.store.exists(keys.witnessed("apple"))
    sells_on(services, 2)


@pytest.mark.parametrize("fresh", ["flushed", "removed"])
def test_a_store_that_is_empty(services: Services, server: StoreServer, fresh: str) -> None:
    """Two rounds in the store, one in the database: all are there again, with their figures."""
    for number, (name, times) in enumerate([("watch", 2), ("sql", 4), ("atomic", 3)], 1):
        booked(services, times, name)
        assert services.rounds.find("apple").number == number
    if fresh == "flushed":
        services.store.flushall()
    else:
        restarted(server, lambda: removed(server.folder))
    with pytest.raises(Lacking, match="--repair"):
        services.rounds.start("apple", "atomic", 10, {})
    rounds = repaired(services, "--yes")["rounds"]
    assert [(each["round"], each["left"], each["gone"]) for each in rounds] == [
        (1, 8, True),
        (2, None, True),
        (3, 7, True),
    ]
    for number, left in ((1, 8), (2, 6), (3, 7)):
        audit = settled(services, number)
        assert (audit.left, audit.sold, audit.broken) == (left, 10 - left, 0)
        assert audit.verdict == "inconsistent"
    newest = services.rounds.newest("apple")
    assert newest
    assert (newest.number, newest.running, newest.mode) == (3, False, "atomic")
    sells_on(services, 4)


def test_sales_that_wait_are_counted_and_booked(services: Services, server: StoreServer) -> None:
    """The log was cut before sales that the ledger has, and after others that it lacks."""
    worker = opened(services)
    sold(worker, 2)
    fulfil_all(services.fulfil)
    end = length(server.folder)
    sold(worker, 2)
    fulfil_all(services.fulfil)
    killed(services, worker)
    restarted(server, lambda: cut(server.folder, end))
    late = services.purchase()  # comes before any worker has checked, and sells what was sold
    sold(late, 1)
    killed(services, late)
    (round,) = repaired(services, "--yes")["rounds"]
    assert (round["booked"], round["waiting"], round["left"]) == (4, 1, 5)
    fulfil_all(services.fulfil)
    audit = settled(services, 1)
    assert (audit.sold, audit.left, audit.orders, audit.broken) == (5, 5, 5, 0)


def test_who_dies_half_way_leaves_the_item_off_sale(
    services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(2):
        booked(services, 3)
    services.store.flushall()
    write = round_repair.write

    class Dead(BaseException):
        pass

    def dies(*given: Any) -> bool:
        write(*given)
        raise Dead

    def dies_first(*_: object) -> bool:
        raise Dead

    for module, name, death in ((round_repair, "write", dies), (loss_marks, "accept", dies_first)):
        with monkeypatch.context() as hand:
            hand.setattr(module, name, death)
            with pytest.raises(Dead):
                services.mend.do("apple")
    with pytest.raises(Lacking):
        services.rounds.start("apple", "atomic", 10, {})
    done = services.mend.do("apple")
    assert done
    assert [each.written.left for each in done.rounds] == [7, 7]
    sells_on(services, 3)
    assert settled(services, 2).orders == 3


def test_two_at_once(services: Services) -> None:
    booked(services, 3)
    services.store.flushall()

    def mend() -> str:
        try:
            return "done" if services.mend.do("apple") else "nothing"
        except ShopError:
            return "told"

    said = at_once([mend] * 6)
    assert "done" in said
    audit = settled(services, 1)
    assert (audit.sold, audit.left, audit.broken) == (3, 7, 0)
    sells_on(services, 2)


@pytest.mark.parametrize("how", ["mended", "accepted"])
def test_who_is_late_changes_nothing_of_the_next_round(
    services: Services, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    """Another host was faster, and a round runs: the first one wakes up before it writes."""
    booked(services, 3)
    services.store.flushall()
    write = round_repair.write

    def overtaken(*given: Any) -> bool:
        monkeypatch.setattr(round_repair, "write", write)
        assert (
            services.mend.do("apple") if how == "mended" else services.consistency.accept("apple")
        )
        services.rounds.start("apple", "atomic", 5, {})
        return write(*given)

    monkeypatch.setattr(round_repair, "write", overtaken)
    with pytest.raises(ShopError, match="meanwhile"):
        services.mend.do("apple")
    running = services.rounds.newest("apple")
    assert running
    assert (running.number, running.running, services.rounds.left(running)) == (2, True, 5)


def test_what_is_found_meanwhile_is_not_lifted(
    services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    services.rounds.start("apple", "atomic", 10, {})
    services.store.flushall()
    other = Lack("apple", Loss.SALE, 1, 1, order="another")
    accept = loss_marks.accept

    def found_first(*given: Any) -> bool:
        services.store.set(keys.lacks("apple"), other.encode())
        return accept(*given)

    monkeypatch.setattr(loss_marks, "accept", found_first)
    with pytest.raises(Lacking, match="another"):
        services.mend.do("apple")
    assert loss_marks.look(services.store, "apple").lack == other


def test_fulfil_goes_on_while_it_is_mended(
    services: Services, server: StoreServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A second sale under a key waited at the check, and becomes a dead letter before the write."""
    round = services.rounds.start("apple", "atomic", 10, {})
    worker = services.purchase()
    sold(worker, 1)
    end = length(server.folder)
    bought(worker, "k")
    sold(worker, 1)
    fulfil_all(services.fulfil)
    killed(services, worker)
    restarted(server, lambda: cut(server.folder, end))
    services.store.xadd(Keys("apple", 1).sales, {"sale": order(round, key="k").encode()})
    services.store.decr(Keys("apple", 1).stock)
    write = round_repair.write

    def first_buried(*given: Any) -> bool:
        monkeypatch.setattr(round_repair, "write", write)
        fulfil_all(services.fulfil)
        return write(*given)

    monkeypatch.setattr(round_repair, "write", first_buried)
    assert services.mend.do("apple")
    audit = settled(services, 1)
    assert (audit.orders, audit.not_booked, audit.broken) == (3, 1, 0)
    assert (audit.left, audit.undersold) == (7, 0), "its unit was put back"


def test_another_store_is_not_written_over(services: Services) -> None:
    services.rounds.start("apple", "atomic", 10, {})
    services.store.set(keys.identity("apple"), "another")
    refused = lastapple(services, "audit", "apple", "--repair", "--yes")
    assert refused.exit_code == 1
    assert "Correct REDIS_URL, or pair the two on purpose: lastapple pair" in refused.stderr


def test_a_round_of_which_nobody_knows_the_stock(services: Services) -> None:
    booked(services, 3)
    services.store.flushall()
    with services.servers.engine.begin() as sql:
        sql.execute(delete(RoundRow))  # as in a database of an earlier version
    said = lastapple(services, "audit", "--repair")
    assert "round 1: the stock at its start is unknown" in said.stdout
    assert repaired(services, "--yes")["unknown_rounds"] == [1]
    sells_on(services, 2)


@pytest.mark.parametrize("where", ["store", "books"])
def test_what_a_newer_version_wrote_is_left_alone(services: Services, where: str) -> None:
    booked(services, 3)
    newer = b'{"version":%d}' % (VERSION + 1)
    services.store.flushall()
    if where == "store":
        services.store.set(Keys("apple", 1).record, newer)
    else:
        with services.servers.engine.begin() as sql:
            sql.execute(update(RoundRow).values(record=newer.decode()))
    before = services.consistency.look("apple")
    assert before
    refused = lastapple(services, "audit", "apple", "--repair", "--yes")
    assert (refused.exit_code, "newer version" in refused.stderr) == (1, True)
    assert loss_marks.look(services.store, "apple").lack == before
    assert services.store.get(Keys("apple", 1).record) == (newer if where == "store" else None)


def test_without_the_books_nothing_is_mended(services: Services, monkeypatch: Any) -> None:
    services.rounds.start("apple", "atomic", 10, {})
    services.store.flushall()
    assert services.consistency.look("apple")
    (services.settings.var / "orders.db").rename(services.settings.var / "away.db")
    (services.settings.var / "orders.db").mkdir()
    services.servers.engine.dispose()
    refused = lastapple(services, "audit", "apple", "--repair", "--yes")
    assert (refused.exit_code, "The database does not answer" in refused.stderr) == (1, True)
    assert loss_marks.look(services.store, "apple").lack


def test_holds(services: Services, server: StoreServer) -> None:
    """Paid holds stay paid, and others stay held; a hold that the store forgot is named."""
    worker = opened(services, hold=600_000)
    paid, held = bought(worker, "paid"), bought(worker, "held")
    end = length(server.folder)
    services.holds.pay(paid)
    also = bought(worker, "also")
    services.holds.pay(also)
    fulfil_all(services.fulfil)
    forgotten = bought(worker, "forgotten")
    restarted(server, lambda: cut(server.folder, end))
    until(lambda: loss_marks.look(services.store, "apple").lack)  # the worker does
    found = repaired(services, "--yes")
    (round,) = found["rounds"]
    assert (round["sold"], round["held"], round["left"], round["brought_back"]) == (2, 1, 7, [])
    assert found["lost"] == [forgotten.id]
    killed(services, worker)
    audit = settled(services, 1)
    assert (audit.sold, audit.left, audit.held, audit.broken, audit.undersold) == (2, 7, 1, 0, 0)
    services.holds.pay(paid)  # again, by the buyer that was cut off: it is paid
    services.holds.give_up(held, Stands.CANCELLED)
    fulfil_all(services.fulfil)
    audit = settled(services, 1)
    assert (audit.sold, audit.left, audit.held, audit.orders) == (2, 8, 0, 2)


def test_units_that_nobody_had_stay_nobodys(services: Services) -> None:
    """A `decr` that died in the middle leaves them: returning them to stock would be a guess."""
    booked(services, 3, "decr")
    services.store.decrby(Keys("apple", 1).stock, 2)
    loss_marks.mark(services.store, Lack("apple", Loss.SALES, 1, 1, 4, 3))
    done = services.mend.do("apple")
    assert done
    assert [(each.sold, each.written.left) for each in done.rounds] == [(3, 5)]
    assert settled(services, 1).undersold == 2


def test_bad_input(services: Services) -> None:
    for words in (["--yes"], ["--repair", "--accept"], ["--repair", "--round", "1"]):
        assert lastapple(services, "audit", "apple", *words).exit_code == 2
    assert lastapple(services, "audit", "grape", "--repair").exit_code == 2
    assert repaired(services) == {"item": "apple", "lack": None, "mended": False, "rounds": []}


def test_a_sale_that_only_its_buyer_knew_counts_as_not_sold(
    services: Services, server: StoreServer
) -> None:
    """It is named, not guessed: the round's figures include only sales with a record."""
    worker = opened(services)
    sold(worker, 2)
    end = length(server.folder)
    sold(worker, 1)
    fulfil_all(services.fulfil)
    sold(worker, 1)
    killed(services, worker)
    restarted(server, lambda: cut(server.folder, end))
    said = " ".join(lastapple(services, "audit", "--repair", "--yes").stdout.split())
    assert "A sale stays unknown if it is neither in the store nor in the books" in said
    fulfil_all(services.fulfil)
    audit = settled(services, 1)
    assert (audit.sold, audit.left, audit.verdict) == (3, 7, "inconsistent")
