"""pyrate-limiter: its bucket in a sorted set."""

from pyrate_limiter import Rate, RateItem, RedisBucket

from matrix.inside import at_most_one


def put(redis):
    bucket = RedisBucket.init([Rate(1, 3_600_000)], redis, "calls")
    return bucket.put(RateItem("me", bucket.now()))


ENTRIES = (
    {
        "library": "pyrate-limiter",
        "kind": "limiter",
        "what": "`RedisBucket([Rate(1, an hour)]).put()`",
        "claim": "new requests are delayed (blocking) or rejected (non-blocking).",
        "actors": [put] * 3,
        "invariant": at_most_one,
        "faults": "crash=1,lost=1",
    },
)
