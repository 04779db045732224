"""The client's policy: nothing is sent twice, every wait ends, a store that returns is found."""

from __future__ import annotations

import gc
import shutil
import threading
import time
import weakref
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import pytest
import redis
from fairlock import Lock

from app import create_shop
from app.bootstrap import Services
from app.config import Settings
from app.domain import Outcome, StoreAway
from app.store.clients.redis import connect
from app.store.keys import Keys
from app.store.servers import Servers
from tests.support.purchases import fulfil_all
from tests.support.reply_proxy import LosesReplies
from tests.support.servers import StoreServer


@pytest.fixture
def lossy(store_server: StoreServer) -> Iterator[LosesReplies]:
    proxy = LosesReplies(store_server)
    yield proxy
    proxy.close()


@pytest.mark.parametrize("name", ["atomic", "watch", "watched"])
def test_a_lost_reply_never_sells_twice(
    services: Services, settings: Settings, lossy: LosesReplies, name: str
) -> None:
    round = services.rounds.start("apple", name, 10, {})
    lossy.what = (Keys("apple", round.number).sales.encode(),)  # and no worker's heartbeat
    through = Services(replace(settings, redis_url=lossy.url, store_timeout=30_000))
    shop = through.purchase()
    shop.buy("apple", 1)  # the server knows the script now
    lossy.lose_next = True
    # redis-py reports a reply lost after WATCH as a WatchError: `watch` and `watched` retry by
    # themselves, and find their own sale under the key. All other modes raise StoreAway.
    with nullcontext() if name.startswith("watch") else pytest.raises(StoreAway):
        shop.buy("apple", 1, key="k")
    again = shop.buy("apple", 1, key="k")  # as a buyer does after a 503
    fulfil_all(services.fulfil)
    shop.reporter.stop()
    through.store.close()
    assert lossy.lost == 1
    assert again.sale.outcome is Outcome.SOLD
    found = services.rounds.ledgers.of(round).snapshot(round)
    assert (found.left, found.recorded) == (8, 2)


def test_who_sent_no_key_is_told_one_to_ask_again_under(
    services: Services, settings: Settings, lossy: LosesReplies
) -> None:
    """Also when the sale is in the database by then, and another round is running."""
    sold_in = services.rounds.start("apple", "atomic", 10, {})
    lossy.what = (Keys("apple", sold_in.number).sales.encode(),)  # and no worker's heartbeat
    through = replace(settings, redis_url=lossy.url, store_timeout=30_000)
    shop = create_shop(through).test_client()
    shop.post("/buy/apple", json={})  # the server knows the script now
    lossy.lose_next = True
    doubt = shop.post("/buy/apple", json={})
    key = doubt.get_json()["idempotency_key"]
    assert (doubt.status_code, "never buys twice" in doubt.get_json()["detail"]) == (503, True)
    fulfil_all(services.fulfil)
    services.rounds.start("apple", "atomic", 10, {})
    again = shop.post("/buy/apple", json={}, headers={"Idempotency-Key": key})
    assert (again.status_code, again.get_json()["round"]) == (201, sold_in.number)
    left = services.rounds.ledgers.of(sold_in).snapshot(sold_in).left
    assert (left, services.rounds.left(services.rounds.find("apple"))) == (8, 10)


def test_redis_py_as_it_comes_does_sell_twice(services: Services, lossy: LosesReplies) -> None:
    """Why the policy is ours: the default client resends the command whose reply was lost."""
    naked = redis.Redis(port=lossy.port)
    naked.set("warm", 1)
    sell = naked.register_script("return redis.call('DECR', KEYS[1])")
    services.store.set("stock", 10)
    assert sell(keys=["stock"]) == 9
    lossy.lose_next = True
    assert sell(keys=["stock"]) == 7, "one sale asked for, two units gone"
    naked.close()


def test_a_lock_that_was_used_keeps_no_client_that_nobody_has(settings: Settings) -> None:
    servers = Servers(settings)
    with Lock(servers.store, "report", timeout=10):
        client = weakref.ref(servers.store)
    servers.store.close()
    del servers
    gc.collect()
    assert client() is None


@pytest.mark.parametrize("ends", ["closed", "collected"])
def test_a_connection_that_closes_takes_its_watch_along(
    services: Services, settings: Settings, ends: str
) -> None:
    """redis-py would connect again for EXEC, which then watches nothing."""
    client = connect(settings.redis_url, settings.store_timeout)
    services.store.set("{apple}:n", 1)
    with client.pipeline() as pipe:
        pipe.watch("{apple}:n")
        if ends == "closed":
            client.close()
        del client
        gc.collect()
        services.store.set("{apple}:n", 5)
        pipe.multi()
        pipe.set("{apple}:n", 0)
        with pytest.raises((redis.WatchError, redis.ConnectionError)):
            pipe.execute()
    assert services.store.get("{apple}:n") == b"5"


@pytest.fixture
def own_services(own_store: StoreServer, tables: Path, tmp_path: Path) -> Iterator[Services]:
    shutil.copy(tables, tmp_path / "orders.db")
    services = Services(Settings(redis_url=own_store.url, var_dir=str(tmp_path)))
    yield services
    services.store.close()


def test_a_frozen_store_costs_two_time_outs(
    own_store: StoreServer, own_services: Services, time_outs: list[int]
) -> None:
    for name in ("watch", "lock:lease", "atomic"):
        # A lock whose acquire was on its way has no user when the store thaws: its lease must end
        # first.
        own_services.rounds.start("apple", name, 10, {"lease": 300})
        shop = own_services.purchase()
        shop.buy("apple", 1)
        own_store.freeze()
        time_outs.clear()
        with pytest.raises(StoreAway):
            shop.buy("apple", 1)
        own_store.thaw()
        assert 1 <= time_outs.count(threading.get_ident()) <= 2, name
        assert shop.buy("apple", 1).sale.outcome is Outcome.SOLD
        shop.reporter.stop()


def test_a_frozen_store_makes_no_thread_wait_for_another(
    own_store: StoreServer, own_services: Services, time_outs: list[int]
) -> None:
    """No thread knows the round yet, and all look it up at once.

    All timeouts have begun by the time the first one is over.
    """
    own_services.rounds.start("apple", "atomic", 10, {})
    shop = own_services.purchase()
    own_store.freeze()

    def buy(_: int) -> float:
        start = time.monotonic()
        with pytest.raises(StoreAway):
            shop.buy("apple", 1)
        assert 1 <= time_outs.count(threading.get_ident()) <= 2
        return time.monotonic() - start

    with ThreadPoolExecutor(16) as pool:
        took = list(pool.map(buy, range(16)))
    own_store.thaw()
    shop.reporter.stop()
    assert max(took) < 4 * min(took), "one after the other, the last would wait for sixteen"


def test_a_restarted_store_is_found_at_the_first_try(
    own_store: StoreServer, own_services: Services
) -> None:
    """A connection that was idle while the server restarted must not cost a buyer a 503."""
    own_services.rounds.start("apple", "atomic", 10, {})
    shop = own_services.purchase()
    shop.buy("apple", 1)
    own_store.kill()
    own_store.start()
    time.sleep(0.6)  # longer than a busy connection is trusted without a check
    answer = shop.buy("apple", 1)
    shop.reporter.stop()
    assert (answer.sale.outcome, answer.sale.left) == (Outcome.SOLD, 8)
