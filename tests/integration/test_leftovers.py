"""Keys that stay in the store after rounds have ended: only those that an audit needs."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from app.bootstrap import Services
from app.domain import Outcome, Round, Stands
from app.modes import Way
from app.service import fulfil as fulfilling
from app.service.purchase import Purchase
from app.store.clients import clock
from app.store.keys import Keys
from app.store.sales import KEY_LIFE
from tests.support.cluster import all_keys
from tests.support.holds import counted, runs_out
from tests.support.purchases import SOUND, fulfil_all

RUNS_ON = ["valkey", "cluster"]
ROUNDS = 100
WAYS = [
    name
    for name in SOUND
    if name not in ("sql_units", "lock:redlock", "lock:zookeeper", "lock:db_unique")
]
# Of an item: its newest round, the identities of store and database, and how many orders the
# database has confirmed. Of a round: its terms, what was left in its store, how many sales were
# ever written, and what its workers answered.
NEEDED = re.compile(
    r"\{apple\}:(round|store|database|booked|probe|copied|"
    r"\d+:(round|stock:ended|sales|workers|readings))"
)


def begun(services: Services, number: int) -> Round:
    hold, per_buyer = (600_000, 5) if number % 2 else (0, 3)
    terms = {"hold": hold, "per_buyer": per_buyer}
    return services.rounds.start("apple", WAYS[number // 2 % len(WAYS)], 10, terms)


def test_a_hundred_rounds_leave_what_their_audits_need(
    services: Services, worker: Callable[[], Purchase], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each sells, and its holds are paid, cancelled, or expire."""
    shop = worker()
    rounds = []
    for number in range(ROUNDS):
        round = begun(services, number)
        rounds.append(round)
        shop.running_rounds.refresh()
        made = [shop.buy("apple", 2, f"{number}-{n}", f"buyer-{n}").sale for n in range(3)]
        if round.hold:
            assert {sale.outcome for sale in made} == {Outcome.HELD}
            paid, cancelled, late = (sale.order for sale in made)
            assert paid
            assert cancelled
            assert late
            services.holds.pay(paid)
            services.holds.give_up(cancelled, Stands.CANCELLED)
            runs_out(services, late)
            assert services.sweep.sweep(["apple"]) == 1
    services.rounds.end("apple")
    fulfil_all(services.fulfil)
    monkeypatch.setattr(fulfilling, "STREAM_LIFE", -1)  # a day later
    ended = clock.now(services.store)
    while clock.now(services.store) == ended:
        pass
    open_ones = [
        Keys("apple", round.number) for round in rounds if not Way.of(round.mode).in_database
    ]
    for consumer in services.fulfil.consumers:
        if "apple" in consumer.items:
            consumer.tidy(open_ones)
    stay = list[str]()
    for key in all_keys(services.store):
        if (ttl := services.store.ttl(key)) < 0:
            stay.append(key.decode())
        else:
            assert ttl <= KEY_LIFE, key
    assert [key for key in sorted(stay) if not NEEDED.fullmatch(key)] == []
    for round in rounds:
        sold = 2 if round.hold else 6
        found = services.rounds.find("apple", round.number)
        assert counted(services, found) == (10 - sold, 0, sold)


@pytest.mark.parametrize("name", ["atomic", "watch", "lock:lease", "fenced", "fused", "decr"])
def test_a_counter_at_zero_is_deleted(services: Services, name: str) -> None:
    """While the round still sells: the deletion does not wait for its end."""
    round = services.rounds.start("apple", name, 10, {"hold": 600_000, "per_buyer": 5})
    shop = services.purchase()
    try:
        made = shop.buy("apple", 2, buyer="b").sale.order
    finally:
        shop.reporter.stop()
    assert made
    bought = Keys("apple", round.number).bought("b")
    assert services.store.get(bought) == b"2"
    services.holds.give_up(made, Stands.DECLINED)
    assert not services.store.exists(bought)
