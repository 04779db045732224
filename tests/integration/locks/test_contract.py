"""The contract of every recipe, parametrised over all of them.

What an exhibit cannot keep is listed in EXEMPT with the reason, and a test in test_exhibits.py
shows it broken. What only some recipes can do is in test_offers.py.
"""

from __future__ import annotations

import threading
import time

import pytest
import redis
from redis.crc import key_slot

from app.domain import Clock, LockLost
from app.locks import LOCKS
from app.store.servers import Servers
from tests.support.cluster import all_keys
from tests.support.locks import KEY, Lock, SetClock, TakeAway, handle
from tests.support.servers import STORES, StoreServer, until

RUNS_ON = [*STORES, "cluster"]

EXEMPT = {
    ("watchdog_any", "keeps others out"): "SETEX asks nobody",
    ("watchdog_any", "releases"): "it compares bytes with a str, so the DEL never comes",
    ("watchdog_any", "tells of a loss"): "it never looks whose lock it renews",
    ("unowned", "frees its own only"): "its DEL asks nobody",
    ("setnx", "outlives a dead holder"): "it has no lease",
    ("setnx", "tells of a loss"): "it has no lease; only its release finds out",
}


def promise(*clauses: str) -> pytest.MarkDecorator:
    """Parametrise over the recipes that promise all of `clauses`."""
    assert set(clauses) <= {clause for _, clause in EXEMPT}, "if nobody is exempt: `everybody`"
    names = [name for name in LOCKS if not any((name, clause) in EXEMPT for clause in clauses)]
    return pytest.mark.parametrize("name", names)


everybody = pytest.mark.parametrize("name", LOCKS)
of_the_store = pytest.mark.parametrize(
    "name", [name for name, recipe in LOCKS.items() if recipe.needs == "store"]
)


@promise("keeps others out")
def test_one_holder_at_a_time(lock: Lock, name: str) -> None:
    first, second = lock(name), lock(name)
    assert first.acquire(wait_s=0)
    assert not second.acquire(wait_s=0)
    assert first.release()
    assert second.acquire(wait_s=0)
    assert second.release()


@promise("keeps others out")
def test_without_blocking_it_tries_once(lock: Lock, name: str) -> None:
    first, second = lock(name), lock(name)
    assert first.acquire(blocking=False)
    assert not second.acquire(blocking=False)
    assert (second.counts.attempts, second.counts.waits) == (1, 0)


@promise("keeps others out")
def test_waits_as_long_as_its_patience(lock: Lock, name: str) -> None:
    first, second = lock(name), lock(name)
    first.acquire(wait_s=0)
    start = time.monotonic()
    assert not second.acquire(wait_s=0.2)
    assert time.monotonic() - start > 0.15
    assert (first.counts.attempts, first.counts.waits) == (1, 0)
    assert (second.counts.attempts > 1, second.counts.waits) == (True, 1)


@promise("keeps others out")
def test_waits_until_the_holder_leaves(lock: Lock, name: str) -> None:
    first, second = lock(name), lock(name)
    first.acquire(wait_s=0)
    got: list[bool] = []
    threading.Thread(target=lambda: got.append(second.acquire()), daemon=True).start()
    until(lambda: second.counts.waits)
    assert not got
    assert first.release()
    until(lambda: got == [True])


@promise("releases")
def test_as_a_context_manager_it_releases(lock: Lock, name: str) -> None:
    with lock(name) as holder:
        assert not holder.lost
        assert not lock(name).acquire(wait_s=0)
    assert lock(name).acquire(wait_s=0)


@promise("releases")
def test_a_section_that_fails_releases_too(lock: Lock, name: str) -> None:
    with pytest.raises(ZeroDivisionError), lock(name):
        _ = 1 / 0
    assert lock(name).acquire(wait_s=0)


@everybody
def test_as_a_context_manager_it_raises_when_the_lock_was_lost(
    lock: Lock, take_away: TakeAway, name: str
) -> None:
    with pytest.raises(LockLost), lock(name) as holder:
        take_away(holder)


@everybody
def test_a_section_that_failed_says_why_before_it_says_that_the_lock_was_lost(
    lock: Lock, take_away: TakeAway, name: str
) -> None:
    holder = lock(name)

    def fail() -> None:
        take_away(holder)
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError), holder:
        fail()
    assert holder.counts.losses == 1


@promise("outlives a dead holder")
def test_a_dead_holder_is_outlived(lock: Lock, take_away: TakeAway, name: str) -> None:
    """Dead: its thread has ended. (test_faults.py kills the process.)"""
    dead = lock(name)
    thread = threading.Thread(target=dead.acquire)
    thread.start()
    thread.join(10)
    take_away(dead)
    assert lock(name).acquire(wait_s=0)


@promise("tells of a loss")
def test_a_loss_can_be_asked_for_inside_and_is_told_once(
    lock: Lock, take_away: TakeAway, name: str
) -> None:
    holder = lock(name)
    told: list[bool] = []
    holder.on_loss(lambda: told.append(holder.lost))
    holder.acquire(wait_s=0)
    assert not holder.lost
    take_away(holder)
    assert holder.lost
    assert not holder.release()
    holder.lose()  # a loss that is noticed elsewhere
    assert (told, holder.counts.losses, holder.lost) == ([True], 1, True)


@promise("releases")
def test_a_lock_given_back_in_time_was_not_lost(lock: Lock, clock: SetClock, name: str) -> None:
    holder = lock(name)
    holder.acquire(wait_s=0)
    assert holder.release()
    clock.ahead += holder.lease_s + 2
    assert (holder.lost, holder.counts.losses) == (False, 0)


@promise("keeps others out", "frees its own only")
def test_a_release_that_comes_too_late_says_so_and_frees_nobody_elses(
    lock: Lock, take_away: TakeAway, name: str
) -> None:
    late, holder, third = lock(name), lock(name), lock(name)
    late.acquire(wait_s=0)
    take_away(late)
    assert holder.acquire(wait_s=0)
    assert not late.release()
    assert not third.acquire(wait_s=0), "the holder's lock must still stand"
    assert holder.release()


@of_the_store
def test_all_its_keys_are_in_one_slot(lock: Lock, servers: Servers, name: str) -> None:
    """So that it works on a cluster, next to the stock that it guards."""
    lock(name).acquire(wait_s=0)
    slots = {key_slot(key) for key in all_keys(servers.store)}
    assert slots == {key_slot(KEY.encode())}


@of_the_store
@pytest.mark.parametrize("how", ["kill", "freeze"])
def test_a_server_that_does_not_answer_is_told_after_two_time_outs(
    own_store: StoreServer, at_own: Servers, time_outs: list[int], how: str, name: str
) -> None:
    """Timeouts of 400 ms each, so that a purchase is answered within a second."""
    key = f"{KEY}:{Clock().token()}"  # a timed-out command of the test before may still run
    holder, second = (handle(name, at_own, key=key) for _ in range(2))
    assert holder.acquire(wait_s=0)
    getattr(own_store, how)()
    for deed in (second.acquire, holder.release):
        time_outs.clear()
        with pytest.raises(redis.RedisError):
            deed()
        assert (how == "freeze") <= time_outs.count(threading.get_ident()) <= 2


def test_exemptions_are_of_recipes_that_we_have() -> None:
    assert {name for name, _ in EXEMPT} <= LOCKS.keys()
