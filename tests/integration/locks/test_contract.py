"""What every recipe promises, parametrised over all of them."""

from __future__ import annotations

import time

import pytest

from app import Parts
from app.domain import Clock
from app.locks import LOCKS
from app.locks.handle import Handle
from tests.losing import take_away

pytestmark = pytest.mark.parametrize("name", LOCKS)
KEY = "{apple}:1:lock"


def lock(parts: Parts, name: str, lease: float = 10.0) -> Handle:
    return LOCKS[name](parts.servers, Clock(), KEY, lease)


def test_one_holder_at_a_time(parts: Parts, name: str) -> None:
    first, second = lock(parts, name), lock(parts, name)
    assert first.acquire(timeout=0)
    assert not second.acquire(timeout=0)
    assert first.release()
    assert second.acquire(timeout=0)
    assert second.release()


def test_waits_as_long_as_its_patience_and_counts_its_attempts(parts: Parts, name: str) -> None:
    first, second = lock(parts, name), lock(parts, name)
    first.acquire(timeout=0)
    start = time.monotonic()
    assert not second.acquire(timeout=0.2)
    assert 0.15 < time.monotonic() - start < 1.0
    assert (first.counts.attempts, second.counts.attempts > 1) == (1, True)


def test_a_dead_holder_is_outlived(parts: Parts, name: str) -> None:
    dead, next_one = lock(parts, name, lease=0.1), lock(parts, name)
    dead.acquire(timeout=0)
    take_away(parts.servers, dead)
    assert next_one.acquire(timeout=5)


def test_a_release_that_comes_too_late_says_so_and_frees_nobody_elses(
    parts: Parts, name: str
) -> None:
    late, holder, third = lock(parts, name, lease=0.05), lock(parts, name), lock(parts, name)
    late.acquire(timeout=0)
    take_away(parts.servers, late)
    assert holder.acquire(timeout=0)
    assert not late.release()
    assert not third.acquire(timeout=0), "the holder's lock must still stand"
    assert holder.release()
