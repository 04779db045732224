"""python-redis-rate-limit: INCRBY and EXPIRE in one script."""

from redis_rate_limit import RateLimit, TooManyRequests

from matrix.inside import at_most_one


def call(redis):
    pool = redis.connection_pool
    try:
        with RateLimit("calls", "me", max_requests=1, expire=3600, redis_pool=pool):
            return True
    except TooManyRequests:
        return False


ENTRIES = (
    {
        "library": "python-redis-rate-limit",
        "kind": "limiter",
        "what": "`RateLimit(max_requests=1, expire=3600)`",
        "claim": "This lib offers an abstraction of a Rate Limit algorithm implemented on top of",
        "actors": [call] * 3,
        "invariant": at_most_one,
        "faults": "crash=1,lost=1",
    },
)
