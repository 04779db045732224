"""pottery and portalocker: locks with threads of their own, that measure time."""

from portalocker import RedisLock
from pottery import Redlock

from matrix.inside import alone, one_at_a_time


def work_with_pottery(redis, name):
    lock = Redlock(key="door", masters={redis}, auto_release_time=10)
    lock.acquire()
    inside = alone(redis, name)
    lock.release()
    return inside


def work_with_portalocker(redis, name):
    with RedisLock("door", connection=redis):
        return alone(redis, name)


ENTRIES = (
    {
        "library": "pottery",
        "kind": "lock",
        "what": "`Redlock(auto_release_time=10)` on one server",
        "claim": "is a safe and reliable lock to coordinate access to a resource shared across "
        "threads, processes, and even machines",
        "actors": [work_with_pottery] * 2,
        "invariant": one_at_a_time,
        "faults": "crash=1",
        "seconds": 20,
    },
    {
        "library": "portalocker",
        "kind": "lock",
        "what": "`RedisLock`",
        "claim": "A Redis lock held by a pub/sub subscription.",
        "actors": [work_with_portalocker] * 2,
        "invariant": one_at_a_time,
        "seconds": 20,
    },
)
