"""redis-dict: setdefault and pop."""

import redis as redis_py
from redis_dict import RedisDict

from matrix.inside import once


def words(redis):
    redis.connection_pool.connection_kwargs["decode_responses"] = True
    return RedisDict("words", redis=redis_py.StrictRedis(connection_pool=redis.connection_pool))


def choose(redis, name):
    return words(redis).setdefault("key", name)


def all_have_the_same(_, answers):
    return len(set(answers.values())) <= 1


def pop(redis):
    return words(redis).pop("key", None)


def fill(redis):
    redis.set("words:key", "str:job")


ENTRIES = (
    {
        "library": "redis-dict",
        "kind": "cache",
        "what": "`setdefault`",
        "claim": "Return the value associated with the given key if it exists, otherwise set the "
        "value to the default value and return it.",
        "actors": [choose] * 3,
        "invariant": all_have_the_same,
        "faults": "crash=1,lost=1",
    },
    {
        "library": "redis-dict",
        "kind": "cache",
        "what": "`pop`",
        "claim": "Remove the value associated with the given key and return it, or return the "
        "default value if the key is not found.",
        "setup": fill,
        "actors": [pop] * 3,
        "invariant": once,
        "faults": "crash=1,lost=1",
    },
)
