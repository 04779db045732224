"""The fused form: the section's commands are sent with the lock's. Its write checks the owner."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
import redis
from fairlock import FusedLock
from fairlock.queue import HANDOVER_S
from fairlock_waiters import LINE, NAME, queue
from servers.waiting import until

pytestmark = pytest.mark.timed  # between its two steps 100 ms may pass


def fused(client: redis.Redis) -> FusedLock:
    return FusedLock(client, NAME)


def test_brings_the_values_and_takes_the_commands(client: redis.Redis) -> None:
    client.mset({"{apple}:a": 1, "{apple}:b": "ü"})
    lock = fused(client)
    assert lock.acquire(["{apple}:a", "{apple}:none", "{apple}:b"], 1.0) == [
        b"1",
        None,
        "ü".encode(),
    ]
    assert lock.release(["SET", "{apple}:a", 2], ["RPUSH", "{apple}:c", "x", "y"])
    assert client.get("{apple}:a") == b"2"
    assert client.lrange("{apple}:c", 0, -1) == [b"x", b"y"]
    assert not client.exists(NAME)


def test_values_are_the_same_bytes_for_a_waiter(
    client: redis.Redis, pool: ThreadPoolExecutor
) -> None:
    anything = bytes(range(256))
    client.mset({"{apple}:a": anything, "{apple}:b": ""})
    holder = queue(client)
    assert holder.acquire("holder", True, None)
    waiting = pool.submit(fused(client).acquire, ["{apple}:a", "{apple}:b", "{apple}:none"], 5.0)
    until(lambda: client.llen(LINE) == 1)
    assert holder.release("holder")
    assert waiting.result(5) == [anything, b"", None]


def test_too_late_nothing_is_done(client: redis.Redis) -> None:
    late, other = fused(client), fused(client)
    assert late.acquire([], 1.0) == []
    until(lambda: not client.exists(NAME), HANDOVER_S * 5, "no lease of 10 s for a fused section")
    assert other.acquire([], 1.0) == []
    assert not late.release(["SET", "{apple}:a", 2])
    assert not client.exists("{apple}:a")
    assert other.release()
