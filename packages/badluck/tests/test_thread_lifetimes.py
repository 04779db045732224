"""How long a process waits for its threads, and what they do after its work."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import badluck
import pytest

Redis = Any


def in_a_thread(redis: Redis) -> None:
    threading.Thread(target=redis.incr, args=["n"]).start()


def by_a_timer(redis: Redis) -> None:
    threading.Timer(2, redis.incr, ["n"]).start()


def in_a_pool_that_waits_for_more(redis: Redis) -> None:
    ThreadPoolExecutor(1).submit(redis.incr, "n")


def after_some_rounds(redis: Redis) -> None:
    def works() -> None:
        for _ in range(3):
            time.sleep(1)
        redis.incr("n")

    threading.Thread(target=works).start()


@pytest.mark.parametrize(
    "actor", [in_a_thread, by_a_timer, in_a_pool_that_waits_for_more, after_some_rounds]
)
def test_a_process_waits_for_its_threads(actor: Callable[[Redis], None]) -> None:
    result = badluck.explore(actor=actor, at_end=lambda redis: redis.get("n") == b"2")
    assert result.verdict == "holds", result


def test_a_process_does_not_wait_for_daemons() -> None:
    def begins_one(redis: Redis) -> None:
        threading.Thread(target=redis.incr, args=["n"], daemon=True).start()
        redis.incr("m")

    found = badluck.explore(actor=begins_one, count=1, at_end=lambda redis: redis.exists("n") == 1)
    assert "BROKEN AT THE END" in str(found)


def test_what_a_thread_does_after_its_work_counts() -> None:
    def is_late(redis: Redis) -> None:
        def writes() -> None:
            time.sleep(3)
            redis.set("x", "late")

        thread = threading.Thread(target=writes)
        thread.start()
        thread.join(1)
        redis.set("x", "stopped")

    found = badluck.explore(
        actor=is_late, count=1, at_end=lambda redis: redis.get("x") == b"stopped"
    )
    assert "BROKEN AT THE END" in str(found)


@pytest.mark.parametrize(("most", "verdict"), [(2, "holds"), (1, "fails")])
def test_threads_without_an_end_are_left_to_themselves(most: int, verdict: str) -> None:
    def beats_for_ever(redis: Redis) -> None:
        def beats() -> None:
            while True:
                redis.incr("beats")
                time.sleep(1)

        threading.Thread(target=beats).start()
        redis.incr("n")

    def few(redis: Redis) -> bool:
        return int(redis.get("n") or 0) <= most

    result = badluck.explore(actor=beats_for_ever, at_end=few)
    assert result.verdict == verdict, result
    assert result.report.states < 300
