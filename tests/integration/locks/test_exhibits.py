"""Each exhibit's flaw, forced to appear."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from app.bootstrap import Services
from app.store.servers import Servers
from tests.support.data_loss import restarted
from tests.support.forked_process import Forked
from tests.support.locks import KEY, HoldUp, Lock, SetClock, handle, renewing
from tests.support.servers import StoreServer, until

RUNS_ON = ["valkey"]  # the contract tries each recipe on each store
NOON = 1_700_000_000  # a whole second, for clocks that stand still


def test_setnx_is_held_for_ever_by_a_dead_holder(
    services: Services, lock: Lock, other: Callable[..., Forked]
) -> None:
    holder = other("setnx", 0.1)
    assert holder.says() == "mine"
    holder.kill()
    assert services.store.ttl(KEY) == -1
    assert not lock("setnx", 0.1).acquire(wait_s=0.5)
    assert services.store.ttl(KEY) == -1


def test_setnx_expire_is_held_for_ever_by_one_who_died_between_the_two(
    services: Services, lock: Lock, other: Callable[..., Forked]
) -> None:
    holder = other("setnx_expire", 1, "EXPIRE")
    assert holder.says() == "hanging"
    holder.kill()
    assert services.store.ttl(KEY) == -1
    assert not lock("setnx_expire", 1).acquire(wait_s=1.5)
    assert services.store.ttl(KEY) == -1


@pytest.mark.parametrize("name", ["setnx_expire", "watchdog_any"])
def test_where_leases_are_whole_seconds_a_shorter_one_becomes_one(
    services: Services, lock: Lock, name: str
) -> None:
    holder = lock(name, 0.2)
    assert holder.acquire(wait_s=0)
    assert 0 < services.store.pttl(KEY) <= 1000
    assert holder.lease_s == 1


def test_unowned_a_late_release_frees_the_lock_of_another(services: Services, lock: Lock) -> None:
    late, holder, third = lock("unowned", 0.05), lock("unowned"), lock("unowned")
    late.acquire()
    until(lambda: not services.store.exists(KEY))
    assert holder.acquire(wait_s=0)
    assert late.release(), "it even believes that it was its own"
    assert third.acquire(wait_s=0)
    assert not holder.lost, "two are inside, and nobody knows"


def test_getset_a_loser_overwrites_the_owners_stamp(
    services: Services, lock: Lock, hold_up: HoldUp
) -> None:
    clock = SetClock(wall_at=NOON)
    lock("getset", 5, clock).acquire()  # and dies
    clock.ahead = 10
    owner: Any = lock("getset", 5, clock)
    loser: Any = lock("getset", 60, clock, hold_up(services.settings, "GETSET", owner.acquire))
    assert not loser.attempt()
    assert owner.stamp == NOON + 10 + 5 + 1
    assert int(services.store.get(KEY) or 0) == NOON + 10 + 60 + 1, "it is the loser's"
    clock.ahead = 10 + 7  # the owner died too: its lease has ended
    assert not lock("getset", 5, clock).acquire(wait_s=0), "held by one who never had it"
    clock.ahead = 10 + 62
    assert lock("getset", 5, clock).acquire(wait_s=0)


def test_getset_a_clock_that_is_ahead_takes_a_lock_that_holds(
    services: Services, lock: Lock
) -> None:
    ours, theirs = SetClock(wall_at=NOON), SetClock(wall_at=NOON + 3600)
    first, second, third = (lock("getset", 10, clock) for clock in (ours, theirs, ours))
    assert first.acquire(wait_s=0)
    assert not third.acquire(wait_s=0)
    assert second.acquire(wait_s=0)
    assert not first.lost, "two are inside"
    assert first.release(), "its own time has not passed, so it deletes what it finds"
    assert third.acquire(wait_s=0), "another two"


def test_getset_two_owners_with_equal_stamps_cannot_be_told_apart(
    services: Services, lock: Lock
) -> None:
    clock = SetClock(wall_at=NOON)
    first: Any = lock("getset", 5, clock)
    second: Any = lock("getset", 5, clock)
    first.acquire()
    services.store.delete(KEY)  # a store that came back without it, in the same second
    assert second.acquire(wait_s=0)
    assert int(services.store.get(KEY) or 0) == first.stamp == second.stamp
    assert first.release(), "not even a comparison would have kept it from deleting this"
    assert lock("getset", 5, clock).acquire(wait_s=0)


def test_getset_sees_that_nobody_is_there(services: Services, lock: Lock, hold_up: HoldUp) -> None:
    """The holder leaves between the next buyer's SETNX and its GET."""
    holder = lock("getset")
    holder.acquire()
    next_one = lock("getset", at=hold_up(services.settings, "GET", holder.release))
    assert next_one.acquire(wait_s=5)
    assert next_one.counts.attempts == 2


def test_del_takeover_lets_two_take_over_one_dead_lock(
    services: Services, lock: Lock, hold_up: HoldUp
) -> None:
    clock = SetClock(wall_at=NOON)
    lock("del_takeover", 5, clock).acquire()  # and dies
    clock.ahead = 10
    first = lock("del_takeover", 5, clock)
    second = lock("del_takeover", 5, clock, hold_up(services.settings, "DEL", first.acquire))
    assert second.attempt()
    assert first.counts.attempts == 1
    assert first.ends
    assert not first.lost, "two are inside"


def test_watchdog_any_gives_everybody_the_lock(services: Services, lock: Lock) -> None:
    first, second = lock("watchdog_any"), lock("watchdog_any")
    assert first.acquire(wait_s=0)
    assert second.acquire(wait_s=0), "no fault was needed"
    assert not first.lost


def test_watchdog_any_never_releases(services: Services, lock: Lock) -> None:
    holder: Any = lock("watchdog_any")
    holder.acquire()
    assert not holder.release()
    assert services.store.get(KEY) == holder.token.encode(), "its own, and still there"


def test_watchdog_any_renews_for_ever_what_a_dead_one_held(
    services: Services, lock: Lock, other: Callable[..., Forked]
) -> None:
    once_here: Any = lock("watchdog_any", 1)
    once_here.acquire()
    once_here.release()
    dead = other("watchdog_any", 1)
    assert dead.says() == "mine"
    dead.kill()
    token = services.store.get(KEY)
    assert token != once_here.token.encode()
    begun = once_here.counts.renewals
    until(lambda: once_here.counts.renewals >= begun + 6)  # each third of a second
    assert services.store.get(KEY) == token


def test_watchdog_any_keeps_one_thread_a_key_and_not_one_an_acquire(lock: Lock) -> None:
    """One thread for a key keeps the shop alive; as taught there would be fifty."""
    for _ in range(50):
        lock("watchdog_any", 60).acquire()
    assert renewing() == 1


def test_watchdog_any_renews_again_after_its_store_was_away(
    own_store: StoreServer, at_own: Servers
) -> None:
    def take() -> None:
        handle("watchdog_any", at_own, lease_s=1).acquire()

    take()
    restarted(own_store, lambda: until(lambda: not renewing(), 10, "nobody is told that it died"))
    take()
    at_own.store.pexpire(KEY, 60_000)
    until(lambda: 0 < at_own.store.pttl(KEY) <= 1000)
