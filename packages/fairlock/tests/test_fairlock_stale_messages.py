"""A message that came too late is void: it does not count for the waiter's next place in line."""

from __future__ import annotations

import math

import pytest
import redis
from fairlock import SystemClock
from fairlock.queue import WaitQueue
from fairlock.waiter import Waiter
from fairlock_waiters import NAME, apart, queue, stranger
from servers.waiting import until

RUNS_ON = ["valkey", "cluster"]
pytestmark = pytest.mark.again

STOCK = "{apple}:1:stock"


def overtaken(client: redis.Redis, mine: WaitQueue, reads: tuple[str, ...] = ()) -> Waiter:
    """A waiter is frozen between "no message yet" and asking: it is called, and passed over.

    Another client enters. Then the waiter continues, asks, and stands in line again. Its old
    message is still unread.
    """
    holder = queue(client, 10.0)
    assert holder.acquire("holder", True, None)
    waiter = Waiter(mine, "late", reads)
    waiter.mine = apart(client)
    waiter.mine.subscribe()
    assert waiter.enqueue() is None
    assert holder.release("holder")
    assert client.get(NAME) == b"late"
    until(lambda: not client.exists(NAME))
    assert stranger(client).acquire("other", False, None, reads)
    assert waiter.try_acquire(again=True) is None
    return waiter


def test_a_mate_called_too_late_does_not_enter_as_well(client: redis.Redis) -> None:
    """The waiter would not ask: its mate took the lock for it, for a lease that has ended."""
    waiter = overtaken(client, queue(client, 0.3))
    assert waiter.wait(SystemClock().now() + 0.2) is None
    assert client.get(NAME) == b"other"


def test_old_values_are_never_written(client: redis.Redis) -> None:
    """If the old message counted, the waiter would write with the stock of the last time."""
    client.set(STOCK, 1)
    mine = stranger(client, 0.1)
    waiter = overtaken(client, mine, (STOCK,))
    assert stranger(client).release("other", [["SET", STOCK, 0]])
    grant = waiter.wait(math.inf)
    assert grant
    assert grant.values in ([b"0"], ["0"])
    assert mine.release("late")


def test_a_reused_token_is_not_called_by_an_old_message(client: redis.Redis) -> None:
    """A caller's own token for redis-py's Lock may be the same each time."""
    waiter = overtaken(client, queue(client, 0.3))
    waiter._leave()
    again = Waiter(waiter.queue, "late", ())
    again.mine = waiter.mine
    assert again.enqueue() is None
    assert again.wait(SystemClock().now() + 0.2) is None
    assert client.get(NAME) == b"other"
