"""One key makes one order of an item, whatever happens to rounds, modes and workers; and the ledger
refuses a second one, whatever the store has forgotten.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from fairlock import FusedLock
from sqlalchemy import text

from app.bootstrap import Services
from app.domain import Outcome, Round
from app.modes import Way
from app.service.purchase import Purchase
from app.store.keys import Keys
from tests.support.command_hooks import Buyer, Handed, lease_runs_out
from tests.support.purchases import IN_DATABASE, SOUND, HandClock, Once, fulfil_all, mode, order
from tests.support.servers import until
from tests.support.sql_hooks import rows

pytestmark = pytest.mark.usefixtures("database_url")
RUNS_ON = ["valkey"]  # the modes' contracts test the scripts on each store
MakeWorker = Callable[[], Purchase]
IN_STORE = [name for name in SOUND if not Way.of(name).in_database]


def switch_and_buy(services: Services, key: str = "k") -> str:
    """Start the next round and buy with the key in it; return the order's id."""
    new = services.rounds.start("apple", "atomic", 5, {})
    sale = mode(services, new).sell(order(new, key=key))
    assert sale.order
    return sale.order.id


def sold_once(services: Services, old: Round) -> None:
    fulfil_all(services.fulfil)
    assert rows(services) == 1
    assert not services.dead_letters.every()
    for number in (old.number, old.number + 1):
        assert services.auditor.audit(services.rounds.find("apple", number)).verdict == "exact"


@pytest.mark.parametrize("name", [name for name in IN_STORE if name != "atomic"])
def test_who_thinks_over_the_end_of_his_round_writes_nothing(services: Services, name: str) -> None:
    """His worker does not know of the end, like a frozen one; it wakes up, and writes."""
    old = services.rounds.start("apple", name, 10, {"think": 1})
    bought: list[str] = []
    clock = HandClock(Once(lambda: bought.append(switch_and_buy(services))))
    sale = mode(services, old, clock).sell(order(old, key="k"))
    assert sale.outcome is Outcome.ROUND_OVER or (sale.order and [sale.order.id] == bought)
    assert services.rounds.left(old) == 10
    sold_once(services, old)


def test_a_fused_section_writes_nothing_after_the_end(
    services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = services.rounds.start("apple", "fused", 10, {})
    bought: list[str] = []
    release, switch = FusedLock.release, Once(lambda: bought.append(switch_and_buy(services)))

    def late(lock: FusedLock, *commands: Any) -> bool:
        switch()
        return release(lock, *commands)

    monkeypatch.setattr(FusedLock, "release", late)
    sale = mode(services, old).sell(order(old, key="k"))
    assert sale.order
    assert [sale.order.id] == bought
    assert services.rounds.left(old) == 10
    sold_once(services, old)


@pytest.mark.parametrize("name", ["atomic", "sql"])
def test_one_key_has_one_order_of_each_item(
    services: Services, worker: MakeWorker, name: str
) -> None:
    """The page of promises, README and the API say so."""
    for item in ("apple", "pear"):
        services.rounds.start(item, name, 10, {})
    shop = worker()
    bought = [shop.buy(item, 1, key="k").sale.order for item in ("apple", "pear") * 2]
    assert bought[:2] == bought[2:]
    assert len({order.id for order in bought if order}) == 2
    fulfil_all(services.fulfil)
    assert rows(services) == 2
    assert not services.dead_letters.every()


@pytest.mark.usefixtures("wired")
def test_decr_gives_back_what_it_took_when_the_key_has_bought_since(services: Services) -> None:
    """The round ends between its DECRBY and its record: without the key the sale would count."""
    old = services.rounds.start("apple", "decr", 10, {})
    bought: list[str] = []
    switch = Once(lambda: bought.append(switch_and_buy(services)))
    sale = Handed(mode(services, old), {"EVALSHA": switch}).sell(order(old, key="k"))
    assert sale.order
    assert [sale.order.id] == bought
    assert services.rounds.left(old) == 10
    sold_once(services, old)


def test_a_stray_key_that_is_set_after_the_end_is_nobodys(services: Services) -> None:
    """A `decr` that is killed between its DECRBY and its check of the round leaves one."""
    old = services.rounds.start("apple", "decr", 10, {})
    mode(services, old).sell(order(old))
    services.rounds.end("apple")
    services.store.decrby(Keys("apple", old.number).stock, 10)
    fulfil_all(services.fulfil)
    audit = services.auditor.audit(old)
    assert (audit.verdict, audit.sold, audit.left) == ("exact", 1, 9)


@pytest.mark.parametrize("name", ["lock:lease", "decr"])
def test_pressed_again_while_the_work_outlives_its_lock(services: Services, name: str) -> None:
    round = services.rounds.start("apple", name, 10, {"think": 1})
    keys, again = Keys("apple", round.number), []

    def press_again() -> None:
        lease_runs_out(services, keys.claim("k") if name == "decr" else keys.lock)
        again.append(mode(services, round).sell(order(round, key="k")).order)

    first = mode(services, round, HandClock(Once(press_again))).sell(order(round, key="k"))
    assert [first.order] == again
    fulfil_all(services.fulfil)
    audit = services.auditor.audit(round)
    assert (audit.verdict, audit.sold, audit.left) == ("exact", 1, 9)


@pytest.mark.parametrize("name", IN_DATABASE)
def test_after_a_round_in_the_database_the_store_knows_its_keys(
    services: Services, worker: MakeWorker, name: str
) -> None:
    """However many rounds are in between, and with the database away."""
    services.rounds.start("apple", name, 10, {})
    first = worker().buy("apple", 2, key="k").sale.order
    for other in ("atomic", "sql", "watch", "sql_lock", "atomic"):
        services.rounds.start("apple", other, 10, {})
    shop = worker()
    with services.engine.begin() as sql:
        sql.execute(text("ALTER TABLE receipts RENAME TO elsewhere"))
    assert shop.buy("apple", 2, key="k").sale.order == first
    services.rounds.end("apple")
    until(lambda: not shop.running_rounds.selling)
    assert shop.buy("apple", 2, key="k").sale.order == first
    assert services.rounds.left(services.rounds.find("apple")) == 10


def test_a_round_waits_for_who_still_sells_in_the_row_of_the_last(
    services: Services, worker: MakeWorker
) -> None:
    old = services.rounds.start("apple", "sql_lock", 10, {"think": 1})
    buyer = Buyer(services, old)
    with ThreadPoolExecutor(1) as pool:
        starting = pool.submit(services.rounds.start, "apple", "atomic", 10, {})
        with pytest.raises(TimeoutError):
            starting.result(0.3)
        sold = buyer.finish().order
        new = starting.result(10)
    assert sold
    assert worker().buy("apple", 1, key=sold.key).sale.order == sold
    assert (services.rounds.left(old), services.rounds.left(new)) == (9, 10)


@pytest.mark.parametrize("name", IN_DATABASE)
def test_the_database_does_not_sell_what_waits_in_the_stream(
    services: Services, worker: MakeWorker, name: str
) -> None:
    """The ledger does not know it yet; the waiting sale came first, and would be refused."""
    services.rounds.start("apple", "atomic", 10, {})
    first = worker().buy("apple", 1, key="k").sale.order
    services.rounds.start("apple", name, 10, {})
    assert worker().buy("apple", 1, key="k").sale.order == first
    fulfil_all(services.fulfil)
    assert (rows(services), services.dead_letters.every()) == (1, [])


@pytest.mark.parametrize("name", ["atomic", "watch", "decr", "lock:lease", "fenced"])
def test_whose_second_sale_is_refused_by_the_books_may_buy_as_many_again(
    services: Services, name: str
) -> None:
    round = services.rounds.start("apple", name, 10, {"per_buyer": 4})
    first = mode(services, round).sell(order(round, 2, key="k", buyer="A")).order
    fulfil_all(services.fulfil)
    services.store.delete(Keys("apple", round.number).key("k"))
    assert mode(services, round).sell(order(round, 2, key="k", buyer="A")).order != first
    fulfil_all(services.fulfil)
    back = Way.of(name).mode.increments
    again = mode(services, round).sell(order(round, 2, buyer="A"))
    assert again.outcome is (Outcome.SOLD if back else Outcome.LIMIT)


@pytest.mark.parametrize("name", ["atomic", "watch", "decr", "lock:lease", "fenced"])
@pytest.mark.parametrize("rounds", [1, 2])
def test_the_books_refuse_a_key_that_the_store_has_lost(
    services: Services, name: str, rounds: int
) -> None:
    round = services.rounds.start("apple", name, 10, {})
    first = mode(services, round).sell(order(round, 2, key="k")).order
    fulfil_all(services.fulfil)
    assert first
    services.store.delete(Keys("apple", round.number).key("k"))
    if rounds == 2:
        round = services.rounds.start("apple", name, 8, {})
    second = mode(services, round).sell(order(round, 2, key="k")).order
    mode(services, round).sell(order(round, 1, key="another"))
    fulfil_all(services.fulfil)

    assert rows(services) == 2
    [letter] = services.dead_letters.every()
    assert letter.read() == second
    assert first.id in letter.reason
    assert mode(services, round).sell(order(round, 2, key="k")).order == first, "the key is back"
    audit = services.auditor.audit(round)
    assert (audit.verdict, audit.not_booked) == ("inconsistent", 1)
    back = 2 if Way.of(name).mode.increments else 0
    sold_before = 2 if rounds == 1 else 0
    stock = 10 if rounds == 1 else 8
    assert (letter.put_back, audit.left) == (back, stock - sold_before - 2 + back - 1)
    assert audit.sold == sold_before + 1 + (0 if back else 2), "its buyer was told so"
    assert first.id in services.dead_letters.retry(letter), "for ever"

    services.dead_letters.drop(letter)
    audit = services.auditor.audit(round)
    assert (audit.verdict, audit.undersold) == ("exact" if back else "undersold", 2 - back)


def test_units_go_back_where_the_stock_is_when_the_round_has_ended(services: Services) -> None:
    round = services.rounds.start("apple", "atomic", 10, {})
    for _ in range(3):
        mode(services, round).sell(order(round, key="k"))
        services.store.delete(Keys("apple", 1).key("k"))
    services.rounds.end("apple")
    fulfil_all(services.fulfil)
    assert services.rounds.left(round) == 9
    assert not services.store.exists(Keys("apple", 1).stock)


def test_what_an_exhibit_sells_twice_is_kept_and_counted(services: Services) -> None:
    round = services.rounds.start("apple", "naive", 10, {"think": 1})
    clock = HandClock(Once(lambda: mode(services, round).sell(order(round, key="k"))))
    mode(services, round, clock).sell(order(round, key="k"))
    fulfil_all(services.fulfil)
    assert (rows(services), services.dead_letters.every()) == (2, [])
    assert services.auditor.audit(round).duplicate_keys == 1


@pytest.mark.parametrize("name", ["lock:lease", "watched", "decr", "lock:setnx"])
def test_who_waits_for_a_lock_waits_no_longer_than_his_round(
    services: Services, worker: MakeWorker, name: str
) -> None:
    """The lock's holder was killed, and his patience is a minute: he buys in the next round at
    once.
    """
    old = services.rounds.start("apple", name, 10, {"wait": 60_000, "lease": 600_000})
    keys = Keys("apple", old.number)
    services.store.set(keys.claim("k") if name == "decr" else keys.lock, "somebody else")
    with ThreadPoolExecutor(1) as pool:
        waiter = pool.submit(worker().buy, "apple", 1, "k")
        until(lambda: services.auditor.audit(old).in_flight == 1)
        new = services.rounds.start("apple", "atomic", 10, {})
        answer = waiter.result(10)
    assert (answer.sale.outcome, answer.round) == (Outcome.SOLD, new)
    fulfil_all(services.fulfil)
    ended = services.rounds.find("apple", old.number)
    assert [services.auditor.audit(each).verdict for each in (ended, new)] == ["exact", "exact"]
    assert services.auditor.audit(old).answers["ERROR"] == 0


def test_who_thinks_does_so_no_longer_than_his_round(
    services: Services, worker: MakeWorker
) -> None:
    old = services.rounds.start("apple", "lock:lease", 10, {"think": 60_000, "lease": 600_000})
    with ThreadPoolExecutor(1) as pool:
        thinker = pool.submit(worker().buy, "apple", 1)
        until(lambda: services.auditor.audit(old).in_flight == 1)
        new = services.rounds.start("apple", "atomic", 10, {})
        assert thinker.result(10).round == new
    assert not services.store.exists(Keys("apple", old.number).lock), "he went out in order"


def test_nobody_is_told_busy_in_the_name_of_a_round_that_has_ended(
    services: Services, worker: MakeWorker
) -> None:
    """The waiter in line is never called: his wait ends, and he may buy in the next round."""
    old = services.rounds.start("apple", "lock:queue", 10, {"wait": 1_500, "think": 1})
    services.store.set(Keys("apple", old.number).lock, "somebody else")
    with ThreadPoolExecutor(1) as pool:
        waiter = pool.submit(worker().buy, "apple", 1)
        until(lambda: services.auditor.audit(old).in_flight == 1)
        new = services.rounds.start("apple", "atomic", 10, {})
        answer = waiter.result(10)
    assert (answer.sale.outcome, answer.round) == (Outcome.SOLD, new)


def test_two_presses_at_once_are_one_order(services: Services, worker: MakeWorker) -> None:
    """In every sound mode, at two workers, with time to think."""
    shops = [worker(), worker()]
    for name in [name for name in SOUND if not services.rounds.missing(name)]:
        round = services.rounds.start("fig", name, 10, {"think": 5})
        meet = threading.Barrier(4)

        def press(number: int, name: str = name, meet: threading.Barrier = meet) -> Any:
            meet.wait(10)
            return shops[number % 2].buy("fig", 1, name).sale.order

        with ThreadPoolExecutor(4) as pool:
            orders = set(pool.map(press, range(4)))
        assert len(orders) == 1, name
        fulfil_all(services.fulfil)
        assert services.auditor.audit(round).orders == 1, name
