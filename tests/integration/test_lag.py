"""How far fulfil is behind, by the store's clock."""

from __future__ import annotations

import time

from app.bootstrap import Services
from app.domain import ITEMS
from app.ops.lag import Lag, lag
from app.store import keys
from app.store.keys import Keys
from tests.support.purchases import fulfil_all, mode, order


def test_it_counts_what_waits_and_for_how_long(services: Services) -> None:
    assert lag(services.store) == [Lag(item) for item in ITEMS]
    for _ in range(2):  # of two rounds
        round = services.rounds.start("fig", "atomic", 9, {})
        mode(services, round).sell(order(round))
    services.store.xadd(Keys("fig", 2).sales, {"sale": b"x"})
    time.sleep(0.03)
    by_item = {each.item: each for each in lag(services.store)}
    fig = by_item.pop("fig")
    assert (fig.waiting, fig.dead_letters, fig.error) == (3, 0, "")
    assert 30 <= fig.age < 5_000
    assert set(by_item.values()) == {Lag(item) for item in ITEMS if item != "fig"}
    fulfil_all(services.fulfil)
    assert {each.item: each for each in lag(services.store)}["fig"] == Lag("fig", dead_letters=1)


def test_by_the_stores_clock_alone(services: Services) -> None:
    """An entry from a store whose clock was ahead has no negative age; one of 1970 is old."""
    for item, id in (("fig", "9000000000000-0"), ("apple", "1000-0")):
        round = services.rounds.start(item, "atomic", 9, {})
        services.store.xadd(Keys(item, round.number).sales, {"sale": b"x"}, id=id)
    by_item = {each.item: each for each in lag(services.store)}
    assert by_item["fig"].age == 0
    assert by_item["apple"].age > 50 * 365 * 86_400_000


def test_one_that_cannot_be_asked_says_why_and_the_others_answer(services: Services) -> None:
    for item in ("fig", "apple", "pear"):
        services.rounds.start(item, "atomic", 9, {})
    services.store.set(Keys("fig", 1).sales, "no stream")
    services.store.set(keys.streams("pear"), "no set")
    by_item = {each.item: each for each in lag(services.store)}
    assert "WRONGTYPE" in by_item["fig"].error
    assert "WRONGTYPE" in by_item["pear"].error
    assert by_item["apple"] == Lag("apple")
