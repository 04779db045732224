"""Nothing is sent twice to a cluster either: replies are lost on the way, sales are not doubled."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path

import pytest
import redis
from redis.backoff import NoBackoff
from redis.cluster import ClusterNode, RedisCluster
from redis.retry import Retry

from app.bootstrap import Services
from app.config import Settings
from app.domain import Outcome, StoreAway
from app.store.clients.redis import connect
from app.store.keys import Keys
from tests.support.cluster import ClusterServer
from tests.support.purchases import fulfil_all
from tests.support.reply_proxy import LosesReplies
from tests.support.servers import until


@pytest.fixture(scope="module")
def behind(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[int, LosesReplies]]:
    """A proxy for each node of a cluster that announces the proxies' ports; by port."""
    cluster = ClusterServer(tmp_path_factory.mktemp("behind"), appendfsync="no")
    proxies = {node.port: LosesReplies(node) for node in cluster.nodes}
    for node in cluster.nodes:
        with node.client() as client:
            client.config_set("cluster-announce-port", proxies[node.port].port)
    wanted = {proxy.port for proxy in proxies.values()}
    for node in cluster.nodes:
        with node.client() as client:
            until(lambda: wanted == {row[2][1] for row in client.execute_command("CLUSTER SLOTS")})
    yield proxies
    for proxy in proxies.values():
        proxy.close()
    cluster.close()


def url(behind: dict[int, LosesReplies]) -> str:
    return "redis+cluster://" + ",".join(f"127.0.0.1:{proxy.port}" for proxy in behind.values())


def serving(behind: dict[int, LosesReplies], key: str) -> LosesReplies:
    """Return the proxy of the node that serves `key`."""
    for proxy in behind.values():
        with proxy.store.client() as client:
            try:
                client.exists(key)
                return proxy
            except redis.ResponseError:
                continue
    raise AssertionError(key)


@pytest.mark.parametrize("name", ["atomic", "watch", "lock:lease"])
def test_a_lost_reply_never_sells_twice(
    behind: dict[int, LosesReplies], tmp_path: Path, name: str
) -> None:
    services = Services(Settings(redis_url=url(behind), var_dir=str(tmp_path)))
    services.store.flushall()
    services.migrate()
    round = services.rounds.start("apple", name, 10, {})
    shop = services.purchase()
    shop.buy("apple", 1)
    lossy = serving(behind, "{apple}")
    lossy.lose_next, lossy.what = True, (Keys("apple", 1).sales.encode(),)
    # As on a single server: redis-py reports a reply lost after WATCH as a WatchError.
    with nullcontext() if name == "watch" else pytest.raises(StoreAway):
        shop.buy("apple", 1, key="k")
    again = shop.buy("apple", 1, key="k")  # as a buyer does after a 503
    fulfil_all(services.fulfil)
    shop.reporter.stop()
    assert not lossy.lose_next
    assert again.sale.outcome is Outcome.SOLD
    books = services.rounds.ledgers.of(round).snapshot(round)
    assert (books.left, books.recorded) == (8, 2)
    services.engine.dispose()


def test_a_pipeline_never_sends_again(behind: dict[int, LosesReplies]) -> None:
    client = connect(url(behind), 1_000)
    client.flushall()
    lossy = serving(behind, "{apple}")
    lossy.lose_next, lossy.what = True, (b"INCR",)
    pipe = client.pipeline(transaction=False)
    for item in ("apple", "pear", "quince"):  # of three nodes
        pipe.incr(f"{{{item}}}:n")
    answers = pipe.execute(raise_on_error=False)
    assert isinstance(answers[0], redis.ConnectionError)
    assert answers[1:] == [1, 1], "the other nodes have answered"
    assert client.get("{apple}:n") == b"1"
    client.close()


def test_redis_pys_cluster_client_does_sell_twice(behind: dict[int, LosesReplies]) -> None:
    """Why the client is ours: redis-py's resends, by default, a script whose reply was lost; ..."""
    lossy = serving(behind, "{apple}")
    theirs = RedisCluster(host="127.0.0.1", port=lossy.port)
    theirs.set("{apple}:stock", 10)
    sell = theirs.register_script("return redis.call('DECR', KEYS[1])")
    assert sell(keys=["{apple}:stock"]) == 9
    lossy.lose_next, lossy.what = True, (b"EVALSHA",)
    assert sell(keys=["{apple}:stock"]) == 7, "one sale asked for, two units gone"
    theirs.close()


def test_so_does_its_pipeline_with_all_retries_off(behind: dict[int, LosesReplies]) -> None:
    """... and with its retries off, it still resends a pipeline's commands."""
    lossy = serving(behind, "{apple}")
    theirs = RedisCluster(
        startup_nodes=[ClusterNode("127.0.0.1", lossy.port)], retry=Retry(NoBackoff(), 0)
    )
    theirs.set("{apple}:n", 0)
    lossy.lose_next, lossy.what = True, (b"INCR",)
    assert theirs.pipeline().incr("{apple}:n").execute() == [2], "asked once, counted twice"
    theirs.close()
