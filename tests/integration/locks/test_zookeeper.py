"""zookeeper with a real server: order, sessions that end, servers that do not answer."""

from __future__ import annotations

import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace

import pytest
from kazoo.client import KazooClient

from app.config import Settings
from app.domain import Clock, StoreAway
from app.locks.zookeeper import Zookeeper
from app.store.servers import Servers
from tests.contender import Contender
from tests.selling import HandClock
from tests.servers import until
from tests.zookeeper import ZooKeeperServer, end_session, leave

SESSION = 2.0  # s
LIMIT = 1.0  # s for an answer
# Packets that the server gets in a second besides: the tests' own questions and the pings.
NOISE = 10


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ZooKeeperServer]:
    server = ZooKeeperServer(tmp_path_factory.mktemp("zookeeper"), SESSION)
    yield server
    server.stop()


@pytest.fixture
def settings(server: ZooKeeperServer) -> Settings:
    return Settings(zookeeper_hosts=server.hosts, store_timeout=round(LIMIT * 1000))


@pytest.fixture
def session(server: ZooKeeperServer, settings: Settings) -> Iterator[Callable[[], Servers]]:
    """Makes sessions; puts the server right and closes them in the end."""
    made: list[Servers] = []

    def make() -> Servers:
        made.append(Servers(settings))
        return made[-1]

    yield make
    server.thaw()
    if server.process.poll() is not None:
        server.start()
    for each in made:
        leave(each.zookeeper.client)


@pytest.fixture
def servers(session: Callable[[], Servers]) -> Servers:
    """This process's own."""
    return session()


@pytest.fixture
def key(request: pytest.FixtureRequest) -> str:
    """A line of the test's own."""
    return str(request.node.name)


@pytest.fixture
def lock(servers: Servers, key: str) -> Callable[..., Zookeeper]:
    def make(clock: Clock | None = None, at: Servers = servers) -> Zookeeper:
        return Zookeeper(at, clock or Clock(), key, 10.0)

    return make


@pytest.fixture
def contender(settings: Settings, key: str) -> Iterator[Callable[[], Contender]]:
    """Makes processes that contend for the same lock."""
    made: list[Contender] = []

    def make() -> Contender:
        made.append(Contender(settings, "zookeeper", key))
        return made[-1]

    yield make
    for each in made:
        each.close()


Lock = Callable[..., Zookeeper]


def waiting(pool: ThreadPoolExecutor, lock: Zookeeper, then: Callable[[], object]) -> None:
    """Let it wait in a thread, and do something when it holds."""

    def wait() -> None:
        assert lock.acquire(timeout=30)
        then()

    pool.submit(wait)
    until(lambda: lock.counts.waits)


def test_a_process_has_one_session(session: Callable[[], Servers]) -> None:
    """Whoever asks first: a second one would be nobody's, and would stay."""
    servers, together = session(), threading.Barrier(16)

    def ask() -> object:
        together.wait(10)
        return servers.zookeeper

    with ThreadPoolExecutor(16) as pool:
        asked = [pool.submit(ask) for _ in range(16)]
        assert len({id(each.result(10)) for each in asked}) == 1


def test_first_come_first_served(lock: Lock) -> None:
    holder, line = lock(), [lock() for _ in range(8)]
    assert holder.acquire(timeout=0)
    order: list[Zookeeper] = []

    def next_one(mine: Zookeeper) -> Callable[[], None]:
        def turn() -> None:
            order.append(mine)
            assert mine.release()

        return turn

    with ThreadPoolExecutor(8) as pool:
        for each in line:
            waiting(pool, each, next_one(each))
        assert not order
        assert holder.release()
    assert order == line
    fences = [each.fence for each in (holder, *line)]
    assert fences == sorted(set(fences)), "each holder's is higher than the one's before"


def test_who_waits_asks_nothing_and_a_release_wakes_one(
    lock: Lock, server: ZooKeeperServer
) -> None:
    holder, line = lock(), [lock() for _ in range(32)]
    assert holder.acquire(timeout=0)
    with ThreadPoolExecutor(32) as pool:
        for each in line:
            waiting(pool, each, each.release)
        before = server.figure("zk_packets_received")
        time.sleep(1.0)
        assert server.figure("zk_packets_received") - before < NOISE
        assert {each.counts.attempts for each in line} == {1}
        assert holder.release()
    assert {each.counts.attempts for each in line} == {2}, "each was woken for its turn only"


def test_who_gives_up_leaves_the_line(lock: Lock) -> None:
    holder, second, third = lock(), lock(), lock()
    assert holder.acquire(timeout=0)
    assert not second.acquire(timeout=0.1)
    assert not third.acquire(blocking=False)
    assert len(holder.line()) == 1
    assert (second.counts.attempts, third.counts.attempts) == (2, 1)


def test_who_is_interrupted_leaves_the_line(lock: Lock) -> None:
    holder = lock()
    assert holder.acquire(timeout=0)

    def ctrl_c() -> None:
        assert len(holder.line()) == 2
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        lock(HandClock(ctrl_c)).acquire()
    until(lambda: len(holder.line()) == 1)


def test_a_dead_waiter_holds_up_nobody_for_longer_than_its_session(
    lock: Lock, contender: Callable[[], Contender]
) -> None:
    holder, last = lock(), lock()
    assert holder.acquire(timeout=0)
    dead = contender()
    assert dead.hear() == "waiting"
    got = threading.Event()
    with ThreadPoolExecutor(1) as pool:
        waiting(pool, last, got.set)
        dead.process.kill()
        start = time.monotonic()
        assert holder.release()
        assert got.wait(SESSION + 2)
    print(f"a dead waiter held the next one up for {time.monotonic() - start:.1f} s")


def test_a_dead_holders_lock_is_free_when_its_session_ends(
    lock: Lock, contender: Callable[[], Contender]
) -> None:
    dead = contender()
    assert dead.hear() == "mine"
    dead.process.kill()
    start = time.monotonic()
    assert lock().acquire(timeout=SESSION + 5)
    took = time.monotonic() - start
    assert SESSION / 4 < took < SESSION + 2, "not before the servers must think that it is dead"


def test_a_frozen_holder_learns_that_it_lost(
    lock: Lock, contender: Callable[[], Contender]
) -> None:
    frozen = contender()
    assert frozen.hear() == "mine"
    frozen.process.send_signal(signal.SIGSTOP)
    second = lock()
    assert second.acquire(timeout=SESSION + 5)
    frozen.process.send_signal(signal.SIGCONT)
    until(lambda: frozen.ask("lost") == "True")
    assert frozen.ask("release") == "False"
    assert second.owned()
    assert not second.lost


def test_a_frozen_holders_release_is_told_the_truth_at_once(
    lock: Lock, contender: Callable[[], Contender]
) -> None:
    """It asks before its own client has noticed anything."""
    frozen = contender()
    assert frozen.hear() == "mine"
    frozen.process.send_signal(signal.SIGSTOP)
    second = lock()
    assert second.acquire(timeout=SESSION + 5)
    frozen.tell("release")
    frozen.process.send_signal(signal.SIGCONT)
    assert frozen.hear() == "False"
    assert second.owned()


def test_a_dead_server_is_told_in_time_to_holder_waiter_and_newcomer(
    lock: Lock, server: ZooKeeperServer
) -> None:
    holder, second = lock(), lock()
    assert holder.acquire(timeout=0)
    told = threading.Event()
    holder.on_loss(told.set)
    with ThreadPoolExecutor(1) as pool:
        waiter = pool.submit(second.acquire)
        until(lambda: second.counts.waits)
        server.kill()
        start = time.monotonic()
        assert told.wait(LIMIT), "cut off, nobody could tell it of the end of its session"
        assert holder.lost
        with pytest.raises(StoreAway, match=r"ZooKeeper \(.+\) does not answer"):
            waiter.result(10)
        assert time.monotonic() - start < 2 * LIMIT
    for deed in (lock().acquire, holder.release):
        start = time.monotonic()
        with pytest.raises(StoreAway):
            deed()
        assert time.monotonic() - start < LIMIT + 0.5


def test_who_was_cut_off_for_a_moment_was_told_and_yet_releases_its_own(lock: Lock) -> None:
    holder = lock()
    assert holder.acquire(timeout=0)
    holder.zookeeper.client._connection._socket.shutdown(socket.SHUT_RDWR)
    until(lambda: holder.lost)
    until(lambda: holder.zookeeper.session)
    assert holder.owned()
    assert holder.release()
    assert holder.counts.losses == 1


def freeze(server: ZooKeeperServer, deed: Callable[[], object]) -> None:
    """Freeze the server, do it, and see that it is told in time."""
    server.freeze()
    start = time.monotonic()
    with pytest.raises(StoreAway, match="does not answer"):
        deed()
    assert time.monotonic() - start < LIMIT + 0.5


@pytest.mark.parametrize("and_then", ["thaws", "breaks the connection"])
def test_a_place_that_was_made_after_its_maker_gave_up_does_not_stay(
    lock: Lock, server: ZooKeeperServer, and_then: str
) -> None:
    first = lock()
    assert first.acquire(timeout=0)
    before = number(first)
    assert first.release()
    freeze(server, lock().acquire)
    if and_then != "thaws":
        cut(first.zookeeper.client)
    server.thaw()
    last = lock()
    until(lambda: last.zookeeper.session)
    assert last.acquire(timeout=5)
    assert number(last) == before + 2, "there was one between"


def test_a_place_whose_makers_connection_broke_does_not_stay(
    lock: Lock, server: ZooKeeperServer
) -> None:
    """The servers made it, and the word of that was lost."""
    first = lock()
    assert first.acquire(timeout=0)
    before = number(first)
    assert first.release()
    server.freeze()
    with ThreadPoolExecutor(1) as pool:
        lost = pool.submit(lock().acquire)
        cut(first.zookeeper.client)
        with pytest.raises(StoreAway, match="ConnectionLoss"):
            lost.result(10)
    server.thaw()
    last = lock()
    until(lambda: last.zookeeper.session)
    assert last.acquire(timeout=5)
    assert number(last) == before + 2, "there was one between"


def test_a_place_whose_release_was_not_answered_does_not_stay(
    lock: Lock, server: ZooKeeperServer
) -> None:
    holder = lock()
    assert holder.acquire(timeout=0)
    freeze(server, holder.release)
    server.thaw()
    assert lock().acquire(timeout=5)


@pytest.mark.parametrize("session_ended", [False, True])
def test_a_release_is_asked_for_again_when_the_connection_broke(
    lock: Lock, server: ZooKeeperServer, session_ended: bool
) -> None:
    """Its first DELETE was carried out: the place was mine until then, in this same session."""
    holder = lock()
    assert holder.acquire(timeout=0)
    if session_ended:
        assert holder.place
        holder.place = replace(holder.place, session=0)  # it was made in an earlier one
    server.freeze()
    with ThreadPoolExecutor(1) as pool:
        release = pool.submit(holder.release)
        cut(holder.zookeeper.client)
        server.thaw()
        assert release.result(10) != session_ended
    assert not holder.locked()


def test_a_place_that_somebody_deleted_was_lost(lock: Lock) -> None:
    holder = lock()
    assert holder.acquire(timeout=0)
    holder.zookeeper.client.delete(f"{holder.folder}/{holder.line()[0]}")
    assert not holder.owned()
    assert not holder.release()


def test_who_waits_while_his_session_ends_stands_in_line_again(
    session: Callable[[], Servers], lock: Lock
) -> None:
    holder, second = lock(at=session()), lock()
    assert holder.acquire(timeout=0)
    got = threading.Event()
    with ThreadPoolExecutor(1) as pool:
        waiting(pool, second, got.set)
        before = holder.line()
        end_session(second.servers)
        until(lambda: len(holder.line()) == 2 and holder.line() != before)
        assert not got.is_set()
        assert holder.release()
        assert got.wait(5)
    assert second.owned()


def number(lock: Zookeeper) -> int:
    """Of its place in line."""
    return int(lock.line()[0][-10:])


def cut(client: KazooClient) -> None:
    """Break the connection once a request is on its way (or be late: kazoo has broken it)."""
    until(lambda: client._pending or not client.connected)
    with suppress(OSError):
        client._connection._socket.shutdown(socket.SHUT_RDWR)
    until(lambda: not client.connected)
