"""redlock on three and on five servers, some of which are killed or frozen, or forget."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
import redis

from tests.support.redlock import KEY, PLENTY, Reach, holds, lock
from tests.support.servers import StoreServer, until

pytestmark = pytest.mark.again


@pytest.mark.parametrize("how", ["kill", "freeze"])
@pytest.mark.parametrize(("count", "away"), [(3, 1), (5, 2)])
def test_a_minority_may_be_away(
    servers: Reach,
    up: list[StoreServer],
    time_outs: list[int],
    count: int,
    away: int,
    how: str,
) -> None:
    """Also the first ones in order; each costs its timeout at most."""
    here = servers(up[:count])
    for master in up[:away]:
        getattr(master, how)()
    first, second = lock(here), lock(here)
    assert first.acquire(wait_s=0)
    assert len(time_outs) == (away if how == "freeze" else 0)
    assert not second.acquire(wait_s=0)
    assert (first.owned(), second.owned(), second.locked()) == (True, False, True)
    assert first.extend(PLENTY)
    assert first.release()
    assert not second.locked()
    assert second.acquire(wait_s=0)


@pytest.mark.parametrize("how", ["kill", "freeze"])
@pytest.mark.parametrize(("count", "away"), [(3, 2), (5, 3)])
def test_without_a_majority_it_says_so_in_time_and_leaves_nothing(
    servers: Reach,
    up: list[StoreServer],
    time_outs: list[int],
    count: int,
    away: int,
    how: str,
) -> None:
    here = servers(up[:count])
    holder = lock(here)
    assert holder.acquire(wait_s=0)
    with redis.Redis.from_url(up[0].url) as client:
        client.delete(KEY)  # so that the others' first SET succeeds
    for master in up[count - away : count]:
        getattr(master, how)()
    said = f"{count - away} of {count} masters answer, redlock needs {count // 2 + 1}"
    for deed in (lock(here).acquire, holder.release, lambda: holder.extend(1), holder.owned):
        time_outs.clear()
        with pytest.raises(redis.ConnectionError, match=said):
            deed()
        # Taking and undoing, each sent to all masters that are away.
        assert len(time_outs) <= 2 * away
    assert not holds(up[0])


def test_a_restarted_master_remembers(servers: Reach, up: list[StoreServer]) -> None:
    here = servers(up[:3])
    up[2].kill()
    held = lock(here)
    assert held.acquire(wait_s=0)  # on the first and the second
    up[1].kill()
    up[1].start()
    up[2].start()  # it has never got this lock
    assert not lock(here).acquire(wait_s=0)
    assert held.release()


def test_a_master_that_forgets_lets_two_in(servers: Reach, up: list[StoreServer]) -> None:
    """This is how it breaks, and why the embedded masters write every lock to the disk."""
    here = servers(up[:3])
    up[2].kill()
    held, second = lock(here), lock(here)
    assert held.acquire(wait_s=0)
    with redis.Redis.from_url(up[1].url) as client:
        client.flushall()
    up[2].start()
    assert second.acquire(wait_s=0)
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
            if held.acquire(wait_s=0.2):
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
    assert held.acquire(wait_s=0)
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(second.acquire, wait_s=10)
        until(lambda: second.counts.waits)
        up[0].kill()
        assert not waiting.done()
        assert held.release()
        assert waiting.result(10)
    assert second.owned()
