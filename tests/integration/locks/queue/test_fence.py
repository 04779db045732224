"""The fencing token rises with every hand-over, whatever the server has forgotten."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from app.bootstrap import Parts
from tests.integration.locks.queue.standing import (
    FENCE,
    line,
    stand,
)

RUNS_ON = ["valkey"]


def test_the_fence_rises_with_every_hand_over(parts: Parts, pool: ThreadPoolExecutor) -> None:
    mine = line(parts)
    fences = []
    for number in range(3):
        grant = mine.acquire(f"a{number}", True, None)
        waiting = stand(parts, pool, f"b{number}")
        mine.release(f"a{number}")
        other = waiting.result(5)
        assert grant
        assert other
        fences += [grant.fence, other.fence]
        mine.release(f"b{number}")
    assert fences == sorted(set(fences))


@pytest.mark.parametrize("what", ["expired", "lost its newest writes"])
def test_the_fence_rises_though_the_server_forgot(parts: Parts, what: str) -> None:
    mine = line(parts)
    first = mine.acquire("a", True, None)
    assert first
    if what == "expired":
        parts.store.delete(FENCE)
    else:
        parts.store.set(FENCE, first.fence - 1000)
    mine.release("a")
    second = mine.acquire("b", True, None)
    assert second
    assert second.fence > first.fence


def test_the_fence_rises_though_the_clock_went_back(parts: Parts) -> None:
    mine = line(parts)
    future = int(time.time() * 1e6) + 10**12
    parts.store.set(FENCE, future)
    grant = mine.acquire("a", True, None)
    assert grant
    assert grant.fence == future + 1
