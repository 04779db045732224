"""dramatiq: its rate limiters and its barrier, on WATCH."""

import time

from dramatiq.rate_limits import (
    Barrier,
    BucketRateLimiter,
    ConcurrentRateLimiter,
    WindowRateLimiter,
)
from dramatiq.rate_limits.backends import RedisBackend

from matrix.inside import alone, at_most_one, one_at_a_time


def work(redis, name):
    limiter = ConcurrentRateLimiter(RedisBackend(client=redis), "door", limit=1, ttl=10_000)
    with limiter.acquire(raise_on_failure=False) as acquired:
        return alone(redis, name) if acquired else None


def call(redis, seconds=60):
    limiter = WindowRateLimiter(RedisBackend(client=redis), "calls", limit=1, window=seconds)
    with limiter.acquire(raise_on_failure=False) as acquired:
        return acquired


def call_within_two_seconds(redis):
    redis.ping()  # take the time after it: else all would begin, and ask for the time, at once
    return call(redis, 2) and int(time.time())


def lease(redis):
    redis.set("a lease", "for which they stand still", px=3000)


def two_seconds_apart(_, answers):
    when = sorted(second for second in answers.values() if second)
    return len(when) < 2 or when[1] - when[0] >= 2


def call_by_bucket(redis):
    limiter = BucketRateLimiter(RedisBackend(client=redis), "calls", limit=1, bucket=3_600_000)
    with limiter.acquire(raise_on_failure=False) as acquired:
        return acquired


def build(redis):
    barrier(redis).create(3)


def barrier(redis):
    return Barrier(RedisBackend(client=redis), "barrier", ttl=60_000)


def arrive(redis):
    return barrier(redis).wait()


LIMITER = {"library": "dramatiq", "kind": "limiter", "invariant": at_most_one}
MUTEX = LIMITER | {
    "what": "`ConcurrentRateLimiter(limit=1, ttl=10000)`",
    "claim": "A rate limiter that ensures that only `limit` concurrent operations may happen at "
    "the same time.",
    "invariant": one_at_a_time,
}
ENTRIES = (
    MUTEX | {"actors": [work] * 3, "faults": "crash=1"},
    MUTEX
    | {
        "what": "the same, with a lost reply",
        "actors": [work] * 3,
        "faults": "lost=1",
        "seconds": 200,
        "why": "When the reply to a watched EXEC is lost, redis-py raises WatchError. `decr` takes "
        "that for a race and tries again. So one release counts down twice, and then two "
        "processes are inside together.",
    },
    MUTEX
    | {
        "what": "the same, with a pause past its expiry",
        "actors": [work] * 2,
        "faults": "pause=1",
        "documented": "The time in milliseconds that keys may live for.",
    },
    LIMITER
    | {
        "what": "`WindowRateLimiter(limit=1, window=60)`",
        "claim": "A rate limiter that ensures that only `limit` operations may happen over some "
        "sliding window.",
        "actors": [call] * 3,
        "faults": "crash=1,lost=1",
    },
    LIMITER
    | {
        "what": "`WindowRateLimiter(limit=1, window=2)`, with a pause",
        "claim": "A rate limiter that ensures that only `limit` operations may happen over some "
        "sliding window.",
        "setup": lease,
        "actors": [call_within_two_seconds] * 2,
        "invariant": two_seconds_apart,
        "faults": "pause=1",
        "why": "A process watches the keys of the seconds before its pause. After the pause it "
        "reads the keys of the current seconds, and writes to the old key. So a call in the "
        "current seconds does not make its EXEC fail.",
    },
    LIMITER
    | {
        "what": "`BucketRateLimiter(limit=1)`",
        "claim": "A rate limiter that ensures that only up to `limit` operations may happen over "
        "some time interval.",
        "actors": [call_by_bucket] * 3,
        "faults": "crash=1,lost=1",
    },
    {
        "library": "dramatiq",
        "kind": "barrier",
        "what": "`Barrier(parties=3).wait()`",
        "claim": "A distributed barrier.",
        "setup": build,
        "actors": [arrive] * 3,
    },
)
