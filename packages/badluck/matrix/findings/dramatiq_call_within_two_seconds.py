"""dramatiq 2.2.1: `WindowRateLimiter(limit=1, window=2)`, standing still for longer

It watches the keys of the seconds before it stood still, reads those of now, and writes to the old one: of a call in the seconds of now nothing makes EXEC fail.

With an EMPTY Redis or Valkey on this machine (its keys are deleted):

    pip install dramatiq==2.2.1 redis==8.1.0
    python dramatiq_call_within_two_seconds.py [PORT]
"""

import sys
import threading
import time

import redis as redis_py
from redis.backoff import NoBackoff
from redis.retry import Retry

from dramatiq.rate_limits import (
    Barrier,
    BucketRateLimiter,
    ConcurrentRateLimiter,
    WindowRateLimiter,
)
from dramatiq.rate_limits.backends import RedisBackend


def call(redis, seconds=60):
    limiter = WindowRateLimiter(RedisBackend(client=redis), "calls", limit=1, window=seconds)
    with limiter.acquire(raise_on_failure=False) as acquired:
        return acquired


def call_within_two_seconds(redis):
    redis.ping()  # from then on: else all would begin, and ask for the time, at once
    return call(redis, 2) and int(time.time())


def lease(redis):
    redis.set("a lease", "for which they stand still", px=3000)


def two_seconds_apart(_, told):
    when = sorted(one for one in told.values() if one)
    return len(when) < 2 or when[1] - when[0] >= 2


# Who sends its next command; "crash" ends one, "lost" loses its reply; or all wait so many seconds.
ORDER = [
    ('A', 'sends'),
    ('A', 'sends'),
    ('A', 'sends'),
    ('A', 'sends'),
    (3.101, 'wait'),
    ('B', 'sends'),
    ('B', 'sends'),
    ('B', 'sends'),
    ('B', 'sends'),
    ('B', 'sends'),
    ('A', 'sends'),
]
WORK = {"A": call_within_two_seconds, "B": call_within_two_seconds}
LONGER = 15  # s: than any lease or wait of the above
turns = {name: threading.Semaphore(0) for name in WORK}
arrived = {name: threading.Event() for name in WORK}
loses, told = set(), {}


class InTurn(redis_py.Connection):
    """Sends nothing before it is its thread's turn."""

    def send_packed_command(self, command, check_health=True):
        name = threading.current_thread().name
        if name in WORK and b"SETINFO" not in b"".join(command):
            arrived[name].set()
            turns[name].acquire()
        super().send_packed_command(command, check_health)

    def read_response(self, *args, **kwargs):
        said = super().read_response(*args, **kwargs)
        name = threading.current_thread().name
        if name in loses and not self._parser._buffer.unread_bytes():
            loses.remove(name)
            self.disconnect()
            raise redis_py.ConnectionError("the reply is lost")
        return said


def in_its_thread(name):
    pool = redis_py.ConnectionPool(
        connection_class=InTurn, port=PORT, retry=Retry(NoBackoff(), 0), socket_timeout=None, protocol=2
    )
    try:
        told[name] = WORK[name](redis_py.Redis(connection_pool=pool))
    except redis_py.ConnectionError:
        pass
    arrived[name].set()


PORT = int(sys.argv[1]) if sys.argv[1:] else 6379
plain = redis_py.Redis(port=PORT)
plain.flushall()
lease(plain)

threads = {name: threading.Thread(target=in_its_thread, args=(name,), name=name, daemon=True) for name in WORK}
for thread in threads.values():
    thread.start()
for name, what in ORDER:
    if what == "wait":
        time.sleep(name)
        continue
    arrived[name].wait(LONGER)
    if what == "crash":
        del threads[name]
        continue
    if what == "lost":
        loses.add(name)
    arrived[name].clear()
    turns[name].release()
    arrived[name].wait(0.2)  # or it waits for the server
for name in threads:
    turns[name].release(1_000_000)
until = time.monotonic() + LONGER
for thread in threads.values():
    thread.join(max(0, until - time.monotonic()))
waits = [name for name, thread in threads.items() if thread.is_alive()]
print("told:", told, "still waiting:", waits, "keys:", plain.keys())
wrong = bool(waits) or not two_seconds_apart(plain, told)
print("WRONG" if wrong else "all well")
sys.exit(wrong)
