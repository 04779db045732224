"""kill -9 and SIGSTOP of holder and waiter, each a process of its own."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from app.domain import Clock
from tests.support.forked_process import Forked
from tests.support.locks import Lock

LEASE = 1.0
SLACK = 40.0  # s; a longer wait means that it hangs
pytestmark = [pytest.mark.again, pytest.mark.parametrize("name", ["lease", "watchdog", "queue"])]


@pytest.fixture
def clock() -> Clock:
    """The real time: other processes would not follow a simulated one."""
    return Clock()


def test_a_killed_holder_is_outlived(lock: Lock, other: Callable[..., Forked], name: str) -> None:
    holder, next_one = other(name, LEASE), lock(name)
    assert holder.says() == "mine"
    holder.kill()
    assert next_one.acquire(wait_s=LEASE + SLACK)
    assert next_one.release()


def test_a_holder_that_stood_still_for_longer_than_its_lease_finds_its_loss(
    lock: Lock, other: Callable[..., Forked], name: str
) -> None:
    holder, next_one, third = other(name, LEASE), lock(name, 60), lock(name)
    assert holder.says() == "mine"
    holder.freeze()
    assert next_one.acquire(wait_s=LEASE + SLACK)
    holder.thaw()
    assert holder.ask("lost") is True
    assert holder.ask("release") is False
    assert not third.acquire(wait_s=0), "the next one's lock must still stand"
    assert next_one.release()


@pytest.mark.parametrize("end", [Forked.kill, Forked.freeze])
def test_a_waiter_that_goes_away_holds_up_nobody(
    lock: Lock, other: Callable[..., Forked], end: Callable[[Forked], None], name: str
) -> None:
    holder, next_one = lock(name, 60), lock(name)
    assert holder.acquire(wait_s=0)
    waiter = other(name, 30)
    assert waiter.says() == "waiting"
    end(waiter)
    assert holder.release()
    assert next_one.acquire(wait_s=SLACK)
    assert next_one.release()


def test_a_waiter_gets_it_when_the_holder_leaves(
    lock: Lock, other: Callable[..., Forked], name: str
) -> None:
    holder = lock(name, 60)
    assert holder.acquire(wait_s=0)
    waiter = other(name, 30)
    assert waiter.says() == "waiting"
    assert holder.release()
    assert waiter.says(SLACK) == "mine"
    assert waiter.ask("lost") is False
    assert waiter.ask("release") is True
