"""cachelib: `add`, used as a lock that times out."""

from cachelib import RedisCache


def take_and_give_back(redis, name):
    cache = RedisCache(redis)
    while not cache.add("door", name, timeout=10):
        pass
    cache.delete("door")
    return True


ENTRIES = (
    {
        "library": "cachelib",
        "kind": "cache",
        "what": "`add(timeout=10)`, tried until it succeeds",
        "claim": "the cache timeout for the key, either a number of seconds or a",
        "actors": [take_and_give_back] * 2,
        "faults": "crash=1",
        "why": "SETNX and EXPIRE are two commands. A process that crashes in between leaves a key "
        "that never expires.",
    },
)
