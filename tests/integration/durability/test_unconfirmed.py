"""DURABILITY=replicated where no replica confirms: the shop is not ready, no unit comes back."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from servers.valkey import Valkey

from app.bootstrap import Services
from app.domain import Outcome, StoreAway
from app.service.verdict import Verdict
from app.store import keys
from tests.integration.durability.conftest import Pair
from tests.support.cluster import ClusterServer
from tests.support.command_line import environ_of, invoke
from tests.support.purchases import fulfil_all
from tests.support.servers import until

ShopOver = Callable[..., Services]
# No replica of these tests is silent for so long: the store's decision does not depend on time.
MAX_LAG_S = 600


def require_replica(server: Valkey) -> None:
    with server.client() as client:
        client.config_set("min-replicas-max-lag", MAX_LAG_S)
        client.config_set("min-replicas-to-write", 1)


def failing(services: Services) -> list[str]:
    found = services.readiness._checks()
    return [each.sentence for each in found if each.name == "store replicas"]


def check(services: Services) -> tuple[int, str]:
    done = invoke("check", **environ_of(services.settings))
    return done.exit_code, done.stdout


def test_a_store_that_may_take_what_no_replica_confirms(pair: Pair, shop_over: ShopOver) -> None:
    services = shop_over(pair.store)
    [said] = failing(services)
    assert said.startswith("min-replicas-to-write is 0, so it sells on when no replica")
    status, printed = check(services)
    assert (status, printed.count(said)) == (1, 1)
    require_replica(pair.store)
    assert failing(services) == []
    assert check(services)[0] == 0
    assert failing(shop_over(pair.store, "safe")) == []


def test_a_store_without_a_replica(pair: Pair, shop_over: ShopOver) -> None:
    require_replica(pair.store)
    services = shop_over(pair.store)
    round = services.rounds.start("apple", "atomic", 10, {})
    pair.replica.kill()
    with pair.store.client() as client:
        until(lambda: not client.role()[2])
    [said] = failing(services)
    assert said.startswith("DURABILITY=replicated needs a replica, and it has none")
    assert check(services)[0] == 1
    shop = services.purchase()
    with pytest.raises(StoreAway):
        shop.buy("apple", 1)
    assert services.rounds.left(round) == 10, "the store takes nothing that no replica confirms"
    shop.reporter.stop()


def test_a_node_is_asked_once_for_all_its_items(pair: Pair, shop_over: ShopOver) -> None:
    services = shop_over(pair.store)
    failing(services)
    with pair.store.client() as client:
        client.config_resetstat()
        failing(services)
        stats = client.info("commandstats")
    assert stats["cmdstat_info"]["calls"] == 1
    assert "cmdstat_wait" not in stats


def test_what_no_replica_confirms_stays_sold_and_is_listed(pair: Pair, shop_over: ShopOver) -> None:
    services = shop_over(pair.store)
    round = services.rounds.start("apple", "atomic", 10, {})
    shop = services.purchase()
    assert shop.buy("apple", 1).sale.outcome is Outcome.SOLD
    fulfil_all(services.fulfil)
    pair.replica.freeze()
    for _ in range(2):
        with pytest.raises(StoreAway) as told:
            shop.buy("apple", 2, "key")
        assert told.value.key == "key"
    services.sweep.sweep()
    audit = services.auditor.audit(round)
    assert (audit.in_doubt, audit.sold, audit.left) == (1, 3, 7)
    assert audit.verdict is Verdict.SETTLING
    assert audit.sentence == "Settling: 3 of 10 sold so far. No replica confirms 1 sale: in doubt."
    pair.replica.thaw()
    until(pair.together)
    sale = shop.buy("apple", 2, "key").sale
    assert (sale.outcome, sale.order and sale.order.quantity) == (Outcome.SOLD, 2)
    assert services.auditor.audit(round).in_doubt == 0
    fulfil_all(services.fulfil)
    audit = services.auditor.audit(round)
    assert (audit.verdict, audit.orders, audit.left) == (Verdict.EXACT, 2, 7)
    shop.reporter.stop()


def test_a_hold_that_no_replica_confirms_is_listed(pair: Pair, shop_over: ShopOver) -> None:
    services = shop_over(pair.store)
    round = services.rounds.start("apple", "atomic", 10, {"hold": 3_600_000})
    shop = services.purchase()
    pair.replica.freeze()
    with pytest.raises(StoreAway):
        shop.buy("apple", 1, "key")
    audit = services.auditor.audit(round)
    assert (audit.in_doubt, audit.held, audit.left) == (1, 1, 9)
    pair.replica.thaw()
    until(pair.together)
    assert shop.buy("apple", 1, "key").sale.outcome is Outcome.HELD
    assert services.auditor.audit(round).in_doubt == 0
    shop.reporter.stop()


@pytest.fixture
def replicated_cluster(tmp_path: Path) -> Iterator[ClusterServer]:
    """Three primaries, each with one replica."""
    with ClusterServer(tmp_path / "cluster", appendfsync="no") as cluster:
        for number, primary in enumerate(list(cluster.nodes)):
            cluster.add_replica(tmp_path / f"replica-{number}", primary)
        for node in cluster.nodes:
            require_replica(node)
        yield cluster


def test_a_primary_that_took_over_has_no_replica_of_its_own(
    replicated_cluster: ClusterServer, shop_over: ShopOver, tmp_path: Path
) -> None:
    cluster = replicated_cluster
    services = shop_over(cluster)
    round = services.rounds.start("apple", "atomic", 100, {})
    shop = services.purchase()
    until(lambda: failing(services) == [])
    assert shop.buy("apple", 1, "before").sale.outcome is Outcome.SOLD
    primary = cluster.node_of(keys.newest("apple"))
    replica = cluster.nodes[cluster.nodes.index(primary) + 3]
    primary.kill()
    with replica.client() as client:
        client.execute_command("CLUSTER FAILOVER", "TAKEOVER")
        until(lambda: client.role()[0] == b"master")

    def seen() -> bool:
        with suppress(StoreAway):
            return services.rounds.left(round) is not None
        return False

    until(seen)
    [said] = failing(services)
    assert said.startswith(f"127.0.0.1:{replica.port}: DURABILITY=replicated needs a replica")
    assert not services.readiness.look().ready
    for _ in range(12):
        with pytest.raises(StoreAway):
            shop.buy("apple", 1)
    assert services.rounds.left(round) == 99
    second = cluster.add_replica(tmp_path / "second", replica)
    require_replica(second)
    until(lambda: failing(services) == [])
    assert shop.buy("apple", 1, "before").sale.outcome is Outcome.SOLD
    assert services.rounds.left(round) == 99
    assert shop.buy("apple", 1).sale.outcome is Outcome.SOLD
    shop.reporter.stop()
