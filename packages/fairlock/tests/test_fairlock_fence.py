"""The fencing token rises with every hand-over, whatever the server has forgotten."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor

import pytest
import redis
from fairlock_waiters import (
    FENCE,
    enqueue,
    queue,
)

RUNS_ON = ["valkey"]


def test_the_fence_rises_with_every_hand_over(
    client: redis.Redis, pool: ThreadPoolExecutor
) -> None:
    mine = queue(client)
    fences = []
    for number in range(3):
        grant = mine.acquire(f"a{number}", True, None)
        waiting = enqueue(client, pool, f"b{number}")
        mine.release(f"a{number}")
        other = waiting.result(5)
        assert grant
        assert other
        fences += [grant.fence, other.fence]
        mine.release(f"b{number}")
    assert fences == sorted(set(fences))


@pytest.mark.parametrize("what", ["expired", "lost its newest writes"])
def test_the_fence_rises_though_the_server_forgot(client: redis.Redis, what: str) -> None:
    mine = queue(client)
    first = mine.acquire("a", True, None)
    assert first
    if what == "expired":
        client.delete(FENCE)
    else:
        client.set(FENCE, first.fence - 1000)
    mine.release("a")
    second = mine.acquire("b", True, None)
    assert second
    assert second.fence > first.fence


def test_the_fence_rises_though_the_clock_went_back(client: redis.Redis) -> None:
    mine = queue(client)
    future = int(time.time() * 1e6) + 10**12
    client.set(FENCE, future)
    grant = mine.acquire("a", True, None)
    assert grant
    assert grant.fence == future + 1
