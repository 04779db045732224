"""dogpile.cache: one creator, with a lock in Redis."""

from dogpile.cache import make_region


def cached(redis):
    region = make_region().configure(
        "dogpile.cache.redis",
        expiration_time=60,
        arguments={
            "connection_pool": redis.connection_pool,
            "distributed_lock": True,
            "thread_local_lock": False,
            "lock_timeout": 10,
            "redis_expiration_time": 70,
        },
    )
    return region.get_or_create("key", lambda: redis.incr("created") and "value")


def created_once(redis):
    return int(redis.get("created") or 0) <= 1


ENTRIES = (
    {
        "library": "dogpile.cache",
        "kind": "cache",
        "what": "`get_or_create` with a distributed lock",
        "claim": 'allows a single thread of execution to be selected as the "creator" of some '
        "resource",
        "actors": [cached] * 3,
        "invariant": created_once,
    },
)
