"""redis-semaphore: tokens in a list."""

from redis_semaphore import Semaphore

from matrix.inside import alone, one_at_a_time


def work(redis, name):
    semaphore = Semaphore(redis, count=1, namespace="door")
    semaphore.acquire()
    inside = alone(redis, name)
    semaphore.release()
    return inside


def begin(redis, name):
    """Acquire a semaphore of two, and give the token back at once."""
    semaphore = Semaphore(redis, count=2, namespace="door", stale_client_timeout=5)
    semaphore.acquire()
    semaphore.release()
    return True


SEMAPHORE = {
    "library": "redis-semaphore",
    "kind": "semaphore",
    "claim": "A distributed semaphore and mutex built on Redis.",
}
ENTRIES = (
    SEMAPHORE | {"what": "`Semaphore(count=1)`", "actors": [work] * 3, "invariant": one_at_a_time},
    SEMAPHORE
    | {
        "what": "`Semaphore(count=2, stale_client_timeout=5)`",
        "actors": [begin] * 2,
        "faults": "crash=1",
        "why": "The library sends `GETSET door:EXISTS` before it pushes the tokens. A process that "
        "crashes in between leaves a semaphore that exists but has no token. All others wait "
        "forever, although two may enter and the library checks for stale clients. (With a "
        "`socket_timeout`, redis-py 8's default, each gets a TimeoutError instead.)",
    },
)
