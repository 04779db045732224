"""The sound watchdog: renews only its own lock, stops with the work, reports a loss."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from app.bootstrap import Services
from app.store.servers import Servers
from tests.support.locks import KEY, HoldUp, Lock, SetClock, handle, renewing
from tests.support.servers import StoreServer, until


@pytest.mark.again
def test_work_may_outlive_the_lease(lock: Lock) -> None:
    holder = lock("watchdog", 3)
    holder.acquire()
    until(lambda: holder.counts.renewals >= 4)  # each second; each may come two seconds late
    assert not lock("watchdog").acquire(wait_s=0)
    assert not holder.lost
    assert holder.release()
    assert holder.counts.losses == 0


def test_the_renewal_stops_with_the_work(services: Services, lock: Lock) -> None:
    holder = lock("watchdog", 60)
    holder.acquire()
    until(lambda: renewing() == 1)
    assert holder.release()
    until(lambda: not renewing(), 10, "at once, and not at its next turn")
    assert not services.store.exists(KEY)


def test_the_renewal_ends_with_the_thread_that_holds_it(services: Services, lock: Lock) -> None:
    """Also if the thread forgets the release, or dies without it."""
    holder = lock("watchdog", 0.6)
    thread = threading.Thread(target=holder.acquire)
    thread.start()
    thread.join(10)
    until(lambda: not renewing())
    until(lambda: not services.store.exists(KEY))
    assert holder.lost


def test_a_lock_that_became_anothers_is_told_and_left_alone(services: Services, lock: Lock) -> None:
    holder = lock("watchdog", 0.3)
    told: list[bool] = []
    holder.on_loss(lambda: told.append(holder.lost))
    holder.acquire()
    services.store.set(KEY, "another's", px=60_000)
    until(lambda: told)
    until(lambda: not renewing())
    assert services.store.get(KEY) == b"another's"
    assert services.store.pttl(KEY) > 30_000, "its lease is its own affair"
    assert not holder.release()
    assert (told, holder.counts.losses) == ([True], 1)


def test_a_release_during_a_renewal_is_no_loss(
    servers: Servers, lock: Lock, hold_up: HoldUp
) -> None:
    at = hold_up(servers.settings, "EVALSHA", lambda: holder.release())
    holder: Any = lock("watchdog", at=at)
    holder.acquire()
    assert not holder.renew(), "it ends"
    assert (holder.lost, holder.counts.losses) == (False, 0)


def test_a_store_that_is_away_for_a_while_costs_nothing(
    own_store: StoreServer, at_own: Servers
) -> None:
    clock = SetClock()
    holder: Any = handle("watchdog", at_own, clock, 30.0)
    holder.acquire()
    own_store.kill()
    assert holder.renew(), "nobody knows: it goes on trying"
    assert (holder.lost, holder.counts.renewals) == (False, 0)
    own_store.start()
    assert holder.renew()
    assert (holder.lost, holder.counts.renewals) == (False, 1)
    assert holder.release()


def test_a_store_that_is_away_for_a_lease_is_a_loss(
    own_store: StoreServer, at_own: Servers
) -> None:
    clock = SetClock()
    holder: Any = handle("watchdog", at_own, clock, 30.0)
    told: list[bool] = []
    holder.on_loss(lambda: told.append(holder.lost))
    holder.acquire()
    own_store.kill()
    clock.ahead = 29
    assert holder.renew()
    clock.ahead = 30
    assert not holder.renew()
    assert (told, holder.counts.losses) == ([True], 1)
