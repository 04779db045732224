"""django-redis: the cache's lock, and a lock made of cache.add."""

from django.conf import settings

if not settings.configured:
    settings.configure()

from django_redis.cache import RedisCache

from matrix.inside import alone, one_at_a_time


def cache(redis):
    made = RedisCache("redis://nowhere", {})
    made.client._clients = [redis]
    return made


def work(redis, name):
    with cache(redis).lock("door", timeout=10):
        return alone(redis, name)


def add(redis, name):
    made = cache(redis)
    if not made.add("door", name, timeout=10):
        return None
    inside = alone(redis, name)
    made.delete("door")
    return inside


def count(redis):
    cache(redis).incr("n")


def zero(redis):
    cache(redis).set("n", 0)


def all_counted(redis):
    return int(redis.get(":1:n")) == 3


CACHE = {"library": "django-redis", "kind": "lock", "invariant": one_at_a_time}
ENTRIES = (
    CACHE
    | {
        "what": "`cache.lock(timeout=10)`",
        "claim": "Lock interface is identical to the ``threading.Lock``",
        "actors": [work] * 3,
        "faults": "crash=1,lost=1",
    },
    CACHE
    | {
        "what": "`cache.add(timeout=10)` as a lock",
        "claim": "Add a value to the cache, failing if the key already exists.",
        "actors": [add] * 3,
        "faults": "crash=1,lost=1",
    },
    {
        "library": "django-redis",
        "kind": "counter",
        "what": "`cache.incr()`",
        "claim": "the ``incr`` and ``decr`` methods use Redis atomic operations",
        "setup": zero,
        "actors": [count] * 3,
        "at_end": all_counted,
    },
)
