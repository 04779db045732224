"""A node dies, freezes, is replaced: its items are away, the others stay on sale."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import redis
from servers.valkey import Valkey

from app import create_lab, create_shop
from app.bootstrap import Services
from app.config import Settings
from app.domain import ITEMS, Order, Outcome, StoreAway
from app.service.purchase import Purchase
from app.store.clients.redis import connect
from app.store.clients.topology import BETWEEN_LOOKS
from tests.support.cluster import ClusterServer
from tests.support.holds import LONG, runs_out
from tests.support.purchases import fulfil_all
from tests.support.servers import StoreServer, free_port, until


@pytest.fixture
def settings(own_cluster: ClusterServer, tmp_path: Path) -> Settings:
    return Settings(redis_url=own_cluster.url, var_dir=str(tmp_path))


@pytest.fixture
def shop(services: Services, worker: Callable[[], Purchase]) -> Purchase:
    """Every item on sale, and this worker has sold some of each."""
    for item in ITEMS:
        services.rounds.start(item, "atomic", 100, {})
    shop = worker()
    for item in ITEMS:
        shop.buy(item, 1)
    return shop


def others(cluster: ClusterServer, item: str) -> list[str]:
    """Return items that live on other nodes than `item`."""
    away = cluster.node_of(f"{{{item}}}")
    return [other for other in ITEMS if cluster.node_of(f"{{{other}}}") is not away]


def away_after_two_time_outs(shop: Purchase, item: str, time_outs: list[int]) -> None:
    before = time_outs.count(threading.get_ident())
    with pytest.raises(StoreAway):
        shop.buy(item, 1)
    assert time_outs.count(threading.get_ident()) <= before + 2


@pytest.mark.again
@pytest.mark.parametrize("how", ["killed", "frozen"])
def test_a_node_away(
    services: Services,
    shop: Purchase,
    own_cluster: ClusterServer,
    time_outs: list[int],
    how: str,
) -> None:
    node = own_cluster.node_of("{apple}")
    alive = others(own_cluster, "apple")
    assert {"pear", "quince"} <= set(alive)
    (node.kill if how == "killed" else node.freeze)()
    with ThreadPoolExecutor(16) as pool:  # all at once: none waits for another
        each = [pool.submit(away_after_two_time_outs, shop, "apple", time_outs) for _ in range(16)]
        for tried in each:
            tried.result()
    for item in alive:
        assert shop.buy(item, 1).sale.outcome is Outcome.SOLD
    assert threading.get_ident() not in time_outs, "other items wait for no node that is away"
    (node.start if how == "killed" else node.thaw)()
    time.sleep(0.6)  # longer than a busy connection is trusted without a check
    if how == "killed":
        until(lambda: own_cluster.complete(node))
    assert shop.buy("apple", 1).sale.outcome is Outcome.SOLD, "at the first try"
    fulfil_all(services.fulfil)
    audits = [services.auditor.audit(services.rounds.find(item)) for item in ITEMS]
    assert {audit.verdict for audit in audits} == {"exact"}, audits


def test_what_the_others_need_while_a_node_is_away(
    services: Services, shop: Purchase, settings: Settings, own_cluster: ClusterServer
) -> None:
    """Their orders are moved to the database, found and shown; their audits settle."""
    alive = others(own_cluster, "apple")
    sold = shop.buy("quince", 2).sale.order
    gone = shop.buy("apple", 1).sale.order
    assert sold
    assert gone
    own_cluster.node_of("{apple}").kill()
    assert services.order_lookup.find(sold.id).order == sold
    with pytest.raises(StoreAway):
        services.order_lookup.find(gone.id)  # it may be on the node that is away
    assert services.order_lookup.mine("", [sold.id, gone.id])[1], (
        "one may be missing, and that is said"
    )
    shelf = {item.slug: round for item, round, _ in services.rounds.shelf()}
    assert {slug for slug, round in shelf.items() if round} == set(alive)
    assert create_shop(settings).test_client().get("/").status_code == 200
    assert create_lab(settings).test_client().get("/").status_code == 200
    fulfil_all(services.fulfil)
    for item in alive:
        assert services.auditor.audit(services.rounds.find(item)).verdict == "exact", item
    with pytest.raises(StoreAway):
        services.rounds.find("apple")
    assert services.about()["store"]["server"].endswith("cluster")
    # A switch of another item's round is noticed, too.
    services.rounds.start("pear", "watch", 50, {})
    until(lambda: "pear" not in shop.running_rounds.selling, 2)


@pytest.mark.parametrize("mode", ["atomic", "sql"])
def test_holds_come_back_while_another_items_node_is_away(
    services: Services, worker: Callable[[], Purchase], own_cluster: ClusterServer, mode: str
) -> None:
    shop, held = worker(), dict[str, Order]()
    for item in ("apple", "pear"):
        services.rounds.start(item, mode, 5, {"hold": LONG})
        order = shop.buy(item, 3).sale.order
        assert order
        held[item] = order
        runs_out(services, order)
    node = own_cluster.node_of("{apple}")
    node.freeze()
    stop = threading.Event()
    sweeps = [
        threading.Thread(target=services.sweep.run, args=(item, stop), daemon=True)
        for item in ("apple", "pear")
    ]
    try:
        for each in sweeps:
            each.start()
        until(lambda: services.rounds.left(services.rounds.find("pear")) == 5)
        node.thaw()
        until(lambda: services.rounds.left(services.rounds.find("apple")) == 5)
    finally:
        stop.set()
        for each in sweeps:
            each.join(30)


def test_failures_by_the_hundred_ask_for_the_topology_a_few_times(
    shop: Purchase, own_cluster: ClusterServer
) -> None:
    own_cluster.node_of("{apple}").kill()
    began = time.monotonic()
    for _ in range(200):
        with pytest.raises(StoreAway):
            shop.buy("apple", 1)
    took = time.monotonic() - began
    asked = 0
    for item in ("pear", "quince"):  # of the other nodes
        with own_cluster.node_of(f"{{{item}}}").client() as client:
            stats = client.info("commandstats")
        asked += stats.get("cmdstat_cluster|slots", {"calls": 0})["calls"]
    assert asked < 10 + took / BETWEEN_LOOKS


def test_all_nodes_away(
    shop: Purchase, services: Services, own_cluster: ClusterServer, time_outs: list[int]
) -> None:
    for node in own_cluster.nodes:
        node.freeze()
    for item in ITEMS:
        time_outs.clear()
        with pytest.raises(StoreAway):
            shop.buy(item, 1)
        waited = time_outs.count(threading.get_ident())
        assert waited == 1, "and no more to look for the others"
    time_outs.clear()
    with pytest.raises(StoreAway):
        services.rounds.shelf()
    new = Services(services.settings)
    with pytest.raises(StoreAway):
        new.rounds.find("apple")  # has never got the slots' table, and cannot get it now
    assert time_outs.count(threading.get_ident()) <= 4
    for node in own_cluster.nodes:
        node.thaw()
    until(lambda: new.rounds.find("apple"))
    until(lambda: shop.buy("apple", 1))


def test_a_replica_that_takes_over_is_found(
    services: Services, shop: Purchase, own_cluster: ClusterServer, tmp_path: Path
) -> None:
    primary = own_cluster.node_of("{apple}")
    replica = own_cluster.add_replica(tmp_path / "replica", primary)
    with primary.client() as client:
        assert client.wait(1, 5_000) == 1
    primary.kill()
    own_cluster.nodes.remove(primary)

    def sold() -> bool:
        try:
            return shop.buy("apple", 1, key="k").sale.outcome is Outcome.SOLD
        except StoreAway:
            return False

    until(sold, 20)
    assert own_cluster.node_of("{apple}") is replica
    fulfil_all(services.fulfil)
    audit = services.auditor.audit(services.rounds.find("apple"))
    assert (audit.verdict, audit.sold) == ("exact", 2)
    with pytest.raises(redis.ConnectionError):
        primary.client().ping()


def test_a_node_outside_the_cluster_is_passed_over(
    cluster: ClusterServer, valkey: StoreServer, tmp_path: Path
) -> None:
    member = ("--cluster-enabled", "yes", "--cluster-port", str(free_port()))
    lonely = Valkey(tmp_path / "lonely", *member)
    nodes = cluster.url.removeprefix("redis+cluster://")
    client = connect(f"redis+cluster://127.0.0.1:{lonely.port},{nodes}", 1_000)
    assert client.get("{apple}") is None
    alone = connect(f"redis+cluster://127.0.0.1:{lonely.port}", 1_000)
    with pytest.raises(redis.RedisError, match="knows no node with slots"):
        alone.get("{apple}")
    single = connect(f"redis+cluster://127.0.0.1:{valkey.port}", 1_000)
    with pytest.raises(redis.RedisError, match="cluster support disabled"):
        single.get("{apple}")
    for each in (client, alone, single):
        each.close()
    lonely.stop()


def test_dead_names_in_the_url_do_not_matter(own_cluster: ClusterServer, tmp_path: Path) -> None:
    """One living node among those named is enough."""
    before = Services(Settings(redis_url=own_cluster.url, var_dir=str(tmp_path)))
    before.migrate()
    assert before.consistency.look_at_all() == [], "store and database are paired"
    own_cluster.nodes[0].kill()
    services = Services(Settings(redis_url=own_cluster.url, var_dir=str(tmp_path)))
    living = next(
        item for item in ITEMS if own_cluster.node_of(f"{{{item}}}") is own_cluster.nodes[1]
    )
    assert services.rounds.start(living, "atomic", 1, {}).number == 1
