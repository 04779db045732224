"""Flaws of the tutorials' locks, each forced, beside the recipe that mends it."""

from __future__ import annotations

import pytest

from app.bootstrap import Services
from app.domain import LockBusy, Outcome
from app.locks.getset import GetSet
from app.locks.handle import Handle
from app.locks.setnx import SetNx
from app.locks.setnx_expire import SetNxExpire
from tests.integration.locks.flawed_locks import BytesAgainstStr, GetThenSet, NobodyThere, NoToken
from tests.support.locks import KEY, HoldUp
from tests.support.purchases import mode, order

RUNS_ON = ["valkey"]
STOCK, SOLD = "{apple}:stock", "{apple}:sold"


def test_a_perfect_lock_oversells_where_nobody_looks_at_the_stock(services: Services) -> None:
    """No race, no fault: one comes after the other."""
    services.store.set(STOCK, 1)
    for _ in range(2):
        with SetNx(services.store, KEY) as lock:
            assert not SetNx(services.store, KEY).acquire(blocking=False), "it keeps all others out"
            services.store.set(STOCK, int(services.store.get(STOCK) or 0) - 1)
            services.store.incr(SOLD)
            assert not lock.lost
    assert (services.store.get(STOCK), services.store.get(SOLD)) == (b"-1", b"2")


def test_ours_looks(services: Services) -> None:
    round = services.rounds.start("apple", "lock:setnx", 1, {})
    told = [mode(services, round).sell(order(round)).outcome for _ in range(2)]
    assert told == [Outcome.SOLD, Outcome.SOLD_OUT]


@pytest.mark.parametrize(("recipe", "deletes"), [(NoToken, True), (SetNx, False)])
def test_without_a_token_who_was_taken_for_dead_deletes_the_next_ones_lock(
    services: Services, recipe: type[Handle], deletes: bool
) -> None:
    late, holder, third = (recipe(services.store, KEY) for _ in range(3))
    assert late.acquire(blocking=False)
    services.store.delete(KEY)  # a person, who takes it for dead
    assert holder.acquire(blocking=False)
    assert late.release() is deletes
    assert third.acquire(blocking=False) is deletes, "two are inside"


@pytest.mark.parametrize(
    ("recipe", "takes", "both"), [(GetThenSet, "SET", True), (SetNxExpire, "SETNX", False)]
)
def test_to_look_and_then_to_take_lets_two_in(
    services: Services, hold_up: HoldUp, recipe: type[Handle], takes: str, both: bool
) -> None:
    first = recipe(services.store, KEY)
    at = hold_up(services.settings, takes, lambda: first.acquire(blocking=False))
    second = recipe(at.store, KEY)
    assert second.acquire(blocking=False) is both
    assert (first.counts.attempts, first.lost) == (1, False)
    assert first.release() is not both, "it is the second one's"


@pytest.mark.parametrize(("recipe", "stays"), [(BytesAgainstStr, True), (SetNxExpire, False)])
def test_bytes_never_equal_text_so_each_sale_waits_for_the_lease_of_the_one_before(
    services: Services, recipe: type[Handle], stays: bool
) -> None:
    holder = recipe(services.store, KEY, 15)
    assert holder.acquire(blocking=False)
    assert holder.release() is not stays
    next_one = recipe(services.store, KEY, 15, wait_s=0.05)
    if stays:
        with pytest.raises(LockBusy):
            next_one.__enter__()
        assert 13 <= services.store.ttl(KEY) <= 15
    else:
        assert next_one.acquire()


def test_a_multi_without_an_exec_writes_nothing_and_keeps_the_lock(services: Services) -> None:
    services.store.set(STOCK, 1)
    holder = SetNxExpire(services.store, KEY)
    holder.acquire()
    with services.store.pipeline() as pipe:
        pipe.watch(KEY)
        left = int(pipe.get(STOCK) or 0) - 1
        pipe.multi()
        pipe.set(STOCK, left)
        pipe.incr(SOLD)
        pipe.delete(KEY)
    assert (services.store.get(STOCK), services.store.get(SOLD)) == (b"1", None)
    assert holder.owned()
    with services.store.pipeline() as pipe, pytest.raises(TypeError):
        pipe.unwatch(KEY)  # type: ignore[call-arg]  # one cannot forget a single key


def test_who_asks_for_the_time_of_a_lock_that_was_just_released_dies(
    services: Services, hold_up: HoldUp
) -> None:
    holder = GetSet(services.store, KEY)
    holder.acquire()
    at = hold_up(services.settings, "GET", holder.release)
    with pytest.raises(TypeError):
        NobodyThere(at.store, KEY).attempt()


def test_ours_sees_that_nobody_is_there(services: Services, hold_up: HoldUp) -> None:
    holder = GetSet(services.store, KEY)
    holder.acquire()
    at = hold_up(services.settings, "GET", holder.release)
    next_one = GetSet(at.store, KEY, wait_s=5)
    assert next_one.acquire()
    assert next_one.counts.attempts == 2
