"""rush: a periodic limiter with compare and swap, and GCRA in a script."""

import datetime

import redis as redis_py
from rush.exceptions import DataChangedInStoreError, MismatchedDataError
from rush.limiters.periodic import PeriodicLimiter
from rush.limiters.redis_gcra import GenericCellRatelimiter
from rush.quota import Quota
from rush.stores.redis import RedisStore
from rush.throttle import Throttle

from matrix.inside import at_most_one

HOUR = datetime.timedelta(hours=1)


def call(redis, limiter):
    redis.connection_pool.connection_kwargs["decode_responses"] = True
    client = redis_py.StrictRedis(connection_pool=redis.connection_pool)
    store = RedisStore("redis://nowhere", client=client)
    try:
        throttle = Throttle(rate=Quota(HOUR, 1), limiter=limiter(store))
        return not throttle.check("me", 1).limited
    except (DataChangedInStoreError, MismatchedDataError):
        return None


def periodic(redis):
    return call(redis, PeriodicLimiter)


def gcra(redis):
    return call(redis, GenericCellRatelimiter)


def an_hour_ago(redis):
    """Store the record of one call in a period that is over."""
    began = "2020-01-01T00:00:00.000000+0000"
    redis.hset("me", mapping={"used": 1, "remaining": 0, "created_at": began, "time": ""})


PERIODIC = {
    "library": "rush",
    "kind": "limiter",
    "what": "`PeriodicLimiter`, 1 per hour",
    "claim": "A basic periodic interval rate limiter - N accesses per period of time.",
    "invariant": at_most_one,
}
ENTRIES = (
    PERIODIC | {"actors": [periodic] * 3, "faults": "crash=1,lost=1"},
    PERIODIC
    | {
        "what": "the same, after its first period",
        "setup": an_hour_ago,
        "actors": [periodic] * 2,
        "why": "Within a period the limiter compares and swaps. It begins a new period by a plain "
        "HMSET, so every caller that finds the old period over may pass.",
    },
    PERIODIC
    | {
        "what": "`GenericCellRatelimiter`, 1 per hour",
        "claim": "leaky bucket rate limiter based off of the Generic Cell Ratelimiting",
        "actors": [gcra] * 3,
        "faults": "crash=1,lost=1",
    },
)
