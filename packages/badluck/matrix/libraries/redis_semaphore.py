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
    """A semaphore of two; each gives its token back at once."""
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
        "why": "`GETSET door:EXISTS`, and only then the tokens are pushed. A process that crashes "
        "in between leaves a semaphore that counts as created and has no token. All others wait "
        "forever, though two may be in and stale clients are looked for. (With a `socket_timeout`, "
        "which redis-py 8 has by default, each gets a TimeoutError instead.)",
    },
)
