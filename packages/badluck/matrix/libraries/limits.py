"""limits: three strategies, each a script."""

from limits import parse
from limits.storage import RedisStorage
from limits.strategies import (
    FixedWindowRateLimiter,
    MovingWindowRateLimiter,
    SlidingWindowCounterRateLimiter,
)

from matrix.inside import at_most_one


def hit(redis, strategy):
    storage = RedisStorage("redis://nowhere", connection_pool=redis.connection_pool)
    return strategy(storage).hit(parse("1 per hour"), "me")


def fixed(redis):
    return hit(redis, FixedWindowRateLimiter)


def moving(redis):
    return hit(redis, MovingWindowRateLimiter)


def sliding(redis):
    return hit(redis, SlidingWindowCounterRateLimiter)


LIMITER = {
    "library": "limits",
    "kind": "limiter",
    "claim": "is a python library for rate limiting via multiple strategies with commonly used "
    "storage backends",
    "invariant": at_most_one,
    "faults": "crash=1,lost=1",
}
ENTRIES = (
    LIMITER | {"what": "fixed window, 1 per hour", "actors": [fixed] * 3},
    LIMITER | {"what": "moving window, 1 per hour", "actors": [moving] * 3},
    LIMITER | {"what": "sliding window counter, 1 per hour", "actors": [sliding] * 3},
)
