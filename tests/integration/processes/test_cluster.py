"""The whole shop on a cluster, as its user starts it; one of the nodes is killed and comes back."""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import requests

from app.domain import ITEMS
from tests.support.cluster import ClusterServer
from tests.support.servers import until
from tests.support.shop import NewShop

PURCHASES = 40  # of each item, from two buyers at once
HANG = 10.0  # s; two time-outs of the store are 0.8 s (tests/integration/cluster counts them)


@pytest.fixture
def nodes(tmp_path: Path) -> Iterator[ClusterServer]:
    with ClusterServer(tmp_path / "cluster") as server:
        yield server


def test_a_node_is_killed_and_comes_back(
    new_shop: NewShop, nodes: ClusterServer, tmp_path: Path
) -> None:
    """Each buyer retries with his key until he is answered: all get one apple, none two."""
    shop = new_shop(tmp_path / "shop", REDIS_URL=nodes.url, STORE_TIMEOUT="400")
    modes = dict(zip(ITEMS, ("atomic", "watch", "lock", "atomic", "watch", "lock"), strict=True))
    # A lock that was held when the node died is in its log: no buyer gets it until its lease ends.
    numbers = {item: shop.round(modes[item], 200, item, lease_ms=300)["round"] for item in ITEMS}
    node = nodes.node_of("{apple}")
    on_it = {item for item in ITEMS if nodes.node_of(f"{{{item}}}") is node}
    refused: set[str] = set()
    slowest: dict[str, float] = dict.fromkeys(ITEMS, 0.0)

    def buy(item: str) -> list[str]:
        """Buy until it is answered; return the orders' ids."""
        ids = []
        with requests.Session() as session:
            for _ in range(PURCHASES):
                key = uuid.uuid4().hex
                while True:
                    start = time.monotonic()
                    answer = shop.buy(session, key, item=item)
                    slowest[item] = max(slowest[item], time.monotonic() - start)
                    if answer.status_code == 201:
                        break
                    assert answer.status_code == 503, answer.text
                    refused.add(item)
                    time.sleep(0.02)
                ids.append(answer.json()["order"])
                time.sleep(0.02)
        return ids

    with ThreadPoolExecutor(2 * len(ITEMS)) as pool:
        buyers = {item: [pool.submit(buy, item) for _ in range(2)] for item in ITEMS}
        time.sleep(0.5)
        node.kill()
        until(lambda: refused >= on_it)
        node.start()
        ids = {item: [id for each in buyers[item] for id in each.result(60)] for item in ITEMS}
    assert refused == on_it, "the other items went on selling"
    assert max(slowest.values()) < HANG, slowest
    for item in ITEMS:
        audit = shop.audit(numbers[item], item)
        assert audit["verdict"] == "exact", audit
        assert audit["sold"] == audit["orders"] == len(set(ids[item])) == 2 * PURCHASES
