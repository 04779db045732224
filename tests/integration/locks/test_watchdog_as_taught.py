"""The third tutorial's lock, rebuilt with the same behaviour, next to our exhibit of it.

It runs on redis-py with its defaults, in the version that we pin: that resends a command that got
no answer.
"""

from __future__ import annotations

import gc
import threading
from collections.abc import Callable, Iterator
from typing import ClassVar

import pytest
import redis

from app.domain import Clock
from app.locks.handle import Handle
from app.locks.watchdog_any import WatchdogAny
from tests.support.locks import KEY
from tests.support.reply_proxy import LosesReplies
from tests.support.servers import StoreServer, until

RUNS_ON = ["valkey"]
pytestmark = pytest.mark.filterwarnings("ignore:Call to deprecated setex")
Take = Callable[[], Handle]
LEASE_S = 2


class Shared:
    """One handle for all of a process, which is a context manager.

    It makes its client again each time that the handle is requested, and closes it at each exit.
    """

    one: ClassVar[Shared | None] = None
    client: redis.Redis

    def __new__(cls, _port: int) -> Shared:
        cls.one = cls.one or super().__new__(cls)
        return cls.one

    def __init__(self, port: int) -> None:
        self.client = redis.Redis(host="127.0.0.1", port=port)

    def __enter__(self) -> redis.Redis:
        return self.client

    def __exit__(self, *_: object) -> None:
        self.client.close()


class AsTaught(Handle):
    """Broken on purpose. `over` ends its threads with the test; as taught they never end."""

    name = "as_taught"
    exhibit = True
    cost = (2, 2)
    tutorials = (3,)
    over: ClassVar[threading.Event]

    def attempt(self) -> bool:
        self.token = self.clock.token()
        with Shared(self.client) as client:
            client.setex(self.key, int(self.lease_s), self.token)
        threading.Thread(target=self.watch, daemon=True).start()
        return True

    def watch(self) -> None:
        while not self.over.wait(self.lease_s / 3):
            with Shared(self.client) as client:
                if client.exists(self.key):
                    client.expire(self.key, int(self.lease_s))

    def free(self) -> bool:
        with Shared(self.client) as client:
            found: object = client.get(self.key)
            if found == self.token:
                client.delete(self.key)
                return True
        return False


@pytest.fixture
def store(valkey: StoreServer) -> Iterator[redis.Redis]:
    with redis.Redis.from_url(valkey.url) as store:
        store.flushall()
        yield store


@pytest.fixture(params=["as taught", "ours"])
def take(request: pytest.FixtureRequest, valkey: StoreServer, store: redis.Redis) -> Iterator[Take]:
    AsTaught.over = threading.Event()

    def taken() -> Handle:
        if request.param == "ours":
            handle: Handle = WatchdogAny(store, KEY, LEASE_S, clock=Clock())
        else:
            handle = AsTaught(valkey.port, KEY, LEASE_S)
        assert handle.acquire(blocking=False), "nobody is ever kept out"
        return handle

    yield taken
    AsTaught.over.set()


def lengthen(store: redis.Redis) -> None:
    """Set a long lease, which a renewal then visibly shortens."""
    assert store.pexpire(KEY, 60_000), "the machine stood still for longer than a lease"


def until_renewed(store: redis.Redis) -> None:
    until(lambda: 0 < store.pttl(KEY) <= LEASE_S * 1000)


def test_everybody_gets_it_and_nobody_gives_it_back(take: Take, store: redis.Redis) -> None:
    first, second = take(), take()
    assert not first.release()
    assert not second.release(), "not even its own: bytes never equal a str"
    assert store.exists(KEY)


def test_its_key_outlives_holder_and_lease_and_even_the_thread_that_worked(
    take: Take, store: redis.Redis
) -> None:
    def work() -> None:
        assert not take().release()

    worker = threading.Thread(target=work)
    worker.start()
    worker.join(10)
    lengthen(store)  # before it collects, which stops every thread, on a busy machine for a second
    gc.collect()
    for _ in range(2):
        until_renewed(store)
        lengthen(store)


def test_it_prolongs_a_lock_that_is_anothers(take: Take, store: redis.Redis) -> None:
    take().release()
    store.set(KEY, "another's", px=60_000)
    until_renewed(store)
    assert store.get(KEY) == b"another's"


def test_each_who_asks_for_the_shared_handle_puts_a_new_client_into_it(
    valkey: StoreServer,
) -> None:
    first, client = Shared(valkey.port), Shared(valkey.port).client
    assert Shared(valkey.port) is first
    assert first.client is not client


def test_who_leaves_closes_the_client_of_all_and_they_get_no_error(valkey: StoreServer) -> None:
    shared = Shared(valkey.port)
    with shared as client:
        connection = client.client_id()
        with shared:
            pass
        assert client.client_id() != connection, "it has connected anew"


class SomebodyLeaves(LosesReplies):
    """Leaves the context while a reply is on its way. The reply is then delivered."""

    what = (b"DECR",)
    shared: Shared

    def meanwhile(self) -> bool:
        self.shared.__exit__()
        return False


@pytest.fixture
def wire(valkey: StoreServer, store: redis.Redis) -> Iterator[SomebodyLeaves]:
    """A connection to a store with nine units in stock."""
    wire = SomebodyLeaves(valkey)
    wire.shared = Shared(wire.port)
    store.set("stock", 9)
    yield wire
    wire.close()
    wire.shared.client.close()


def test_a_command_under_way_when_somebody_leaves_is_done_twice(wire: SomebodyLeaves) -> None:
    with wire.shared as client:
        assert client.get("stock") == b"9"
        wire.lose_next = True
        assert client.decr("stock") == 7, "one was sold, and two are gone"


def test_a_client_made_from_a_url_sends_nothing_again_and_then_there_is_an_error(
    wire: SomebodyLeaves, store: redis.Redis
) -> None:
    wire.shared.client = redis.Redis.from_url(wire.url)
    with wire.shared as client:
        wire.lose_next = True
        with pytest.raises(redis.ConnectionError):
            client.decr("stock")
    assert store.get("stock") == b"8", "sold, and the buyer is told of an error"
