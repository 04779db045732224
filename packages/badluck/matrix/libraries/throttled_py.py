"""throttled-py: five algorithms, all but the first a script."""

from throttled import Throttled, rate_limiter, store
from throttled.exceptions import StoreUnavailableError

from matrix.inside import at_most_one


def ask(redis, using):
    limiter_store = store.RedisStore(server="redis://nowhere")
    limiter_store._backend._client = redis
    throttle = Throttled(using=using, quota=rate_limiter.per_hour(1, burst=1), store=limiter_store)
    try:
        return not throttle.limit("me").limited
    except StoreUnavailableError:
        return None


def fixed_window(redis):
    return ask(redis, "fixed_window")


def sliding_window(redis):
    return ask(redis, "sliding_window")


def token_bucket(redis):
    return ask(redis, "token_bucket")


def leaking_bucket(redis):
    return ask(redis, "leaking_bucket")


def gcra(redis):
    return ask(redis, "gcra")


ENTRIES = tuple(
    {
        "library": "throttled-py",
        "kind": "limiter",
        "what": f"`{algorithm.__name__}`, 1 per hour",
        "claim": "Provides thread-safe storage backends",
        "actors": [algorithm] * 3,
        "invariant": at_most_one,
        "faults": "crash=1,lost=1",
    }
    for algorithm in (fixed_window, sliding_window, token_bucket, leaking_bucket, gcra)
)
