"""Each item's sales are moved by a consumer of its own: none polls, and none is forgotten."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import pytest

from app.bootstrap import Services
from app.domain import ITEMS
from app.ops.lag import lag
from app.service.fulfil import WAIT, Consumer, Fulfil
from app.store.keys import Keys
from tests.support.cluster import ClusterServer
from tests.support.purchases import fulfil_all, in_stream, mode, order
from tests.support.servers import until


@pytest.fixture
def fulfilling(services: Services) -> Iterator[Fulfil]:
    """Every item on sale, and fulfil at work."""
    for item in ITEMS:
        services.rounds.start(item, "atomic", 100, {})
    stop = threading.Event()
    thread = threading.Thread(target=services.fulfil.run, args=(stop,))
    thread.start()
    yield services.fulfil
    stop.set()
    thread.join(10)


def commands(cluster: ClusterServer) -> int:
    """Return the number of commands that the nodes have executed."""
    count = 0
    for node in cluster.nodes:
        with node.client() as client:
            count += client.info("stats")["total_commands_processed"]
    return count


def test_waiting_costs_two_commands_an_item_and_wait(
    fulfilling: Fulfil, cluster: ClusterServer
) -> None:
    """Without a sale it asks which streams exist, and blocks in the server for one."""
    time.sleep(0.5)  # connected, and past its first check for leftovers
    before = commands(cluster)
    time.sleep(2)
    spent = commands(cluster) - before
    assert spent < 2.5 * len(ITEMS) * 2_000 / WAIT


def test_a_sale_does_not_wait_for_the_next_look(services: Services, fulfilling: Fulfil) -> None:
    for item in ITEMS:
        round = services.rounds.find(item)
        mode(services, round).sell(order(round))
    until(lambda: not any(in_stream(services, services.rounds.find(item)) for item in ITEMS))
    for item in ITEMS:
        assert services.auditor.audit(services.rounds.find(item)).orders == 1


def test_a_bug_in_one_consumer_concerns_its_items_only(
    services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    read, failures = Consumer.read, list[str]()

    def broken(self: Consumer, wait: int) -> object:
        if self.items == ["fig"]:
            failures.append("fig")
            raise ZeroDivisionError
        return read(self, wait)

    monkeypatch.setattr(Consumer, "read", broken)
    round, stop = services.rounds.start("apple", "atomic", 9, {}), threading.Event()
    mode(services, round).sell(order(round))
    running = threading.Thread(target=services.fulfil.run, args=(stop,))
    running.start()
    try:
        until(lambda: len(failures) > 1 and not in_stream(services, round))
    finally:
        stop.set()
        running.join(60)
    assert not running.is_alive()


def test_a_dead_letter_stays_on_its_items_node(services: Services) -> None:
    for item in ("apple", "fig"):
        services.rounds.start(item, "atomic", 9, {})
        services.store.xadd(Keys(item, 1).sales, {"sale": b"x"})
    fulfil_all(services.fulfil)
    first, second = services.dead_letters.every()
    assert [first.item, second.item] == ["apple", "fig"]
    assert services.dead_letters.retry(first) == second.reason
    services.dead_letters.drop(second)
    by_item = {each.item: each.dead_letters for each in lag(services.store)}
    assert by_item == dict.fromkeys(ITEMS, 0) | {"apple": 1}
    assert {item for item, count in services.dead_letters.count().items() if count} == {"apple"}
