"""A client that adds a job, and a worker that works forever."""

from __future__ import annotations

import time

from redis import Redis


def adds_a_job(redis: Redis) -> None:
    redis.rpush("jobs", "a")


def works_for_ever(redis: Redis) -> None:
    while True:
        if redis.lpop("jobs"):
            redis.rpush("done", "a")
        else:
            time.sleep(1)
