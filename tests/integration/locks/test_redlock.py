"""redlock on three and on five servers, some of which are killed or frozen."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
import redis

from app.config import Settings
from app.domain import Clock
from app.locks.redlock import Redlock
from app.store.servers import Servers
from tests.servers import StoreServer, until

KEY = "{apple}:1:lock"
TIMEOUT = 0.2  # s for each master: a fifth of what the settings below say
PLENTY = 30.0  # s, a lease that no test outlives


@pytest.fixture(scope="module")
def every(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[StoreServer]]:
    folders = [tmp_path_factory.mktemp("master") for _ in range(5)]
    servers = [StoreServer(folder, appendfsync="no") for folder in folders]
    yield servers
    for server in servers:
        server.stop()


@pytest.fixture
def up(every: list[StoreServer]) -> Iterator[list[StoreServer]]:
    """Five empty masters, whatever the test before did to them."""
    for server in every:
        with redis.Redis.from_url(server.url) as client:
            client.flushall()
    yield every
    for server in every:
        server.thaw()
        if server.process.poll() is not None:
            server.start()


@pytest.fixture
def servers() -> Iterator[Callable[[list[StoreServer]], Servers]]:
    """Makes clients of some masters, and closes them in the end."""
    made: list[Servers] = []

    def make(masters: list[StoreServer]) -> Servers:
        urls = ",".join(master.url for master in masters)
        made.append(Servers(Settings(redlock_urls=urls, store_timeout=1_000)))
        return made[-1]

    yield make
    for each in made:
        for client in each.masters:
            client.connection_pool.disconnect()


Reach = Callable[[list[StoreServer]], Servers]


def lock(at: Servers, clock: Clock | None = None, lease: float = PLENTY) -> Redlock:
    return Redlock(at, clock or Clock(), KEY, lease)


def holds(master: StoreServer) -> bool:
    with redis.Redis.from_url(master.url) as client:
        return bool(client.exists(KEY))


@pytest.mark.parametrize("how", ["kill", "freeze"])
@pytest.mark.parametrize(("count", "away"), [(3, 1), (5, 2)])
def test_a_minority_may_be_away(
    servers: Reach, up: list[StoreServer], count: int, away: int, how: str
) -> None:
    """Also the first ones in order; each costs its time-out at most."""
    here = servers(up[:count])
    for master in up[:away]:
        getattr(master, how)()
    first, second = lock(here), lock(here)
    start = time.monotonic()
    assert first.acquire(timeout=0)
    assert time.monotonic() - start < away * TIMEOUT + 0.5
    assert not second.acquire(timeout=0)
    assert (first.owned(), second.owned(), second.locked()) == (True, False, True)
    assert first.extend(PLENTY)
    assert first.release()
    assert not second.locked()
    assert second.acquire(timeout=0)


@pytest.mark.parametrize("how", ["kill", "freeze"])
@pytest.mark.parametrize(("count", "away"), [(3, 2), (5, 3)])
def test_without_a_majority_it_says_so_in_time_and_leaves_nothing(
    servers: Reach, up: list[StoreServer], count: int, away: int, how: str
) -> None:
    here = servers(up[:count])
    holder = lock(here)
    assert holder.acquire(timeout=0)
    with redis.Redis.from_url(up[0].url) as client:
        client.delete(KEY)  # so that the others' first SET succeeds
    for master in up[count - away : count]:
        getattr(master, how)()
    said = f"{count - away} of {count} masters answer, redlock needs {count // 2 + 1}"
    for deed in (lock(here).acquire, holder.release, lambda: holder.extend(1), holder.owned):
        start = time.monotonic()
        with pytest.raises(redis.ConnectionError, match=said):
            deed()
        # Taking and undoing, each of all masters that are away.
        assert time.monotonic() - start < 2 * away * TIMEOUT + 0.5
    assert not holds(up[0])


class Slow(Clock):
    """Its every look at the time is `step` seconds later than the one before."""

    def __init__(self, step: float) -> None:
        self.time, self.step = 0.0, step

    def now(self) -> float:
        self.time += self.step
        return self.time


@pytest.mark.parametrize(("took", "won"), [(0.98, True), (0.99, False)])
def test_it_is_won_only_with_time_left(
    servers: Reach, up: list[StoreServer], took: float, won: bool
) -> None:
    """A hundredth of the lease and 2 ms are for the clocks: of 1 s there remain 988 ms."""
    clock = Slow(took)
    held = lock(servers(up[:3]), clock, lease=1.0)
    assert held.attempt() == won
    assert holds(up[0]) == won, "what was not won must not keep others out"
    assert held.ends == (pytest.approx(took + 0.988) if won else None)
    clock.step = 0
    assert not held.lost
    clock.step = 0.1
    assert held.lost == won


def test_an_extension_counts_only_with_time_left(servers: Reach, up: list[StoreServer]) -> None:
    clock = Slow(0.0)
    held = lock(servers(up[:3]), clock)
    assert held.acquire(timeout=0)
    assert held.extend(1.0)
    assert held.ends == pytest.approx(0.988)
    clock.step = 0.99
    assert not held.extend(1.0)
    assert (held.lost, held.counts.losses) == (True, 1)


@pytest.mark.parametrize(("others", "won"), [(1, True), (2, False)])
def test_the_majority_decides(
    servers: Reach, up: list[StoreServer], others: int, won: bool
) -> None:
    for master in up[:others]:
        with redis.Redis.from_url(master.url) as client:
            client.set(KEY, "somebody else's")
    assert lock(servers(up[:3])).acquire(timeout=0) == won
    assert holds(up[2]) == won, "a vote that did not help is given back"
    assert holds(up[0])


def test_votes_for_several_make_nobody_a_holder(servers: Reach, up: list[StoreServer]) -> None:
    for number, master in enumerate(up[:3]):
        with redis.Redis.from_url(master.url) as client:
            client.set(KEY, f"contender {number}")
    assert not lock(servers(up[:3])).locked()


def test_a_late_undo_does_not_hit_the_next_try(servers: Reach, up: list[StoreServer]) -> None:
    """The DEL of a try that failed may reach a master that was frozen at any later time."""
    with redis.Redis.from_url(up[0].url) as first, redis.Redis.from_url(up[1].url) as second:
        first.set(KEY, "other")
        second.set(KEY, "other")
        held = lock(servers(up[:3]))
        assert not held.acquire(timeout=0)
        early = held.token
        second.delete(KEY)
        assert held.acquire(timeout=0)
        held.delete_if_mine([KEY], [early], client=second)
    assert held.owned()


def test_a_restarted_master_remembers(servers: Reach, up: list[StoreServer]) -> None:
    here = servers(up[:3])
    up[2].kill()
    held = lock(here)
    assert held.acquire(timeout=0)  # on the first and the second
    up[1].kill()
    up[1].start()
    up[2].start()  # it has never heard of this lock
    assert not lock(here).acquire(timeout=0)
    assert held.release()


def test_a_master_that_forgets_lets_two_in(servers: Reach, up: list[StoreServer]) -> None:
    """How it breaks, and why the embedded masters write every lock to the disk."""
    here = servers(up[:3])
    up[2].kill()
    held, second = lock(here), lock(here)
    assert held.acquire(timeout=0)
    with redis.Redis.from_url(up[1].url) as client:
        client.flushall()
    up[2].start()
    assert second.acquire(timeout=0)
    assert not held.lost
    assert not held.release(), "only when it gives it back does the first one learn of it"


def test_never_two_holders_while_masters_come_and_go(servers: Reach, up: list[StoreServer]) -> None:
    """Four contend for two seconds; each master in turn is killed and started again meanwhile."""
    stop = threading.Event()
    inside: list[int] = []
    together: list[list[int]] = []
    here = servers(up[:3])

    def contend(number: int) -> int:
        turns = 0
        while not stop.is_set():
            held = lock(here)
            if held.acquire(timeout=0.2):
                inside.append(number)
                if len(inside) > 1:
                    together.append(list(inside))
                turns += 1
                time.sleep(0.002)
                inside.remove(number)
                held.release()
        return turns

    with ThreadPoolExecutor(4) as pool:
        contenders = [pool.submit(contend, number) for number in range(4)]
        for master in up[:3]:
            time.sleep(0.4)
            master.kill()
            time.sleep(0.2)
            master.start()
        stop.set()
        turns = [each.result(10) for each in contenders]
    assert not together
    assert sum(turns) > 20


def test_who_waits_gets_it_when_a_master_dies_under_the_holder(
    servers: Reach, up: list[StoreServer]
) -> None:
    here = servers(up[:3])
    held, second = lock(here), lock(here)
    assert held.acquire(timeout=0)
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(second.acquire, timeout=10)
        until(lambda: second.counts.waits)
        up[0].kill()
        assert not waiting.done()
        assert held.release()
        assert waiting.result(10)
    assert second.owned()
