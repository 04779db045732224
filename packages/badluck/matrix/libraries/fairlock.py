"""fairlock: the lock of this project."""

from fairlock import Lock
from redis.exceptions import LockError

from matrix.inside import FOUND_OUT, alone, one_at_a_time


def work(redis, name):
    try:
        with Lock(redis, "door", timeout=10):
            inside = alone(redis, name)
    except LockError:
        return FOUND_OUT
    return inside


def load(redis):
    """Load the scripts: from the second use on a server knows them."""
    with Lock(redis, "another", timeout=10):
        pass


LOCK = {
    "library": "fairlock",
    "kind": "lock",
    "claim": "A fair lock on Redis: first come, first served.",
    "source": "its README",
    "setup": load,
    "invariant": one_at_a_time,
}
ENTRIES = (
    LOCK | {"what": "`Lock(timeout=10)`", "actors": [work] * 2, "faults": "crash=1,lost=1"},
    LOCK
    | {
        "what": "`Lock(timeout=10)`, with a pause past its expiry",
        "actors": [work] * 2,
        "faults": "pause=1",
        "documented": "A holder that stands still for longer than its lease loses the lock, as "
        "with every lock that expires",
    },
)
