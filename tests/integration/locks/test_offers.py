"""The abilities of only some recipes; the others must not offer them. A new recipe adds its row."""

from __future__ import annotations

from typing import Any

import pytest

from app.locks import LOCKS
from app.store.servers import Servers
from tests.support.locks import Lock, SetClock, TakeAway, pass_time
from tests.support.servers import STORES

RUNS_ON = [*STORES, "cluster"]

OFFERS = {
    "setnx": {"owned", "locked"},
    "setnx_expire": {"owned", "locked"},
    "lease": {"owned", "locked", "extend"},
    "unowned": {"locked"},  # it never checks whose lock it is
    "getset": {"locked"},  # its value says when, not whose
    "del_takeover": {"locked"},
    "watchdog": {"owned", "locked"},  # extending is its own affair
    "watchdog_any": set(),
    "fenced": {"owned", "locked", "extend", "fence"},
    "redlock": {"owned", "locked", "extend"},
    "zookeeper": {"owned", "locked", "fence"},
    "db_unique": {"owned", "locked", "extend"},
    "queue": {"owned", "locked", "extend", "fence"},
}


def offering(what: str) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("name", [name for name in LOCKS if what in OFFERS.get(name, ())])


@pytest.mark.parametrize("name", LOCKS)
def test_it_offers_what_it_can_do_and_nothing_else(lock: Lock, name: str) -> None:
    holder = lock(name)
    can = {what for what in ("extend", "owned", "locked", "fence") if hasattr(holder, what)}
    assert can == OFFERS[name]


@offering("locked")
def test_it_can_be_asked_whether_it_is_locked(lock: Lock, take_away: TakeAway, name: str) -> None:
    holder: Any = lock(name)
    anybody: Any = lock(name)
    assert not anybody.locked()
    holder.acquire(wait_s=0)
    assert anybody.locked()
    take_away(holder)
    assert not anybody.locked()


@offering("owned")
def test_it_can_be_asked_whose_it_is(lock: Lock, take_away: TakeAway, name: str) -> None:
    holder: Any = lock(name)
    anybody: Any = lock(name)
    holder.acquire(wait_s=0)
    assert (holder.owned(), anybody.owned()) == (True, False)
    take_away(holder)
    assert not holder.owned()


@offering("extend")
def test_it_can_be_extended_while_it_is_mine(
    lock: Lock, clock: SetClock, take_away: TakeAway, servers: Servers, name: str
) -> None:
    holder: Any = lock(name, lease=5)
    holder.acquire(wait_s=0)
    assert holder.extend(60)
    pass_time(servers, clock, 30)
    assert not holder.lost
    assert not lock(name).acquire(wait_s=0)
    pass_time(servers, clock, 31)
    assert lock(name).acquire(wait_s=0)
    assert not holder.extend(60), "it is another's"
    assert (holder.lost, holder.counts.losses) == (True, 1)
