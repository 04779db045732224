"""fencekit 0.6.1: `mark_done(result=…)`, another standing still for longer

`try_begin` is SET NX and then a DEL of an old result. Who stands still between them for longer than its TTL deletes the result of the next, which has begun and is done.

With an EMPTY Redis or Valkey on this machine (its keys are deleted):

    pip install fencekit==0.6.1 redis==8.1.0
    python fencekit_finish.py [PORT]
"""

import sys
import threading
import time

import redis as redis_py
from redis.backoff import NoBackoff
from redis.retry import Retry

from datetime import timedelta
from fencekit import DistributedLock, FenceGate, IdempotencyGuard
from fencekit.errors import (
    FencedOutError,
    IdempotencyNotOwned,
    IdempotencyResultMissing,
    LockNotAcquired,
)


TTL = timedelta(seconds=10)


def finish(redis, name):
    guard = IdempotencyGuard(redis)
    if not guard.try_begin("job", ttl=TTL):
        return None
    try:
        guard.mark_done("job", result=name)
        return guard.get_result("job")
    except IdempotencyNotOwned:
        return None
    except IdempotencyResultMissing:
        return "done, without its result" if guard.status("job") == "done" else None


def done_has_its_result(_, told):
    return "done, without its result" not in told.values()


# Who sends its next command; "crash" ends one, "lost" loses its reply; or all wait so many seconds.
ORDER = [
    ('A', 'sends'),
    ('A', 'sends'),
    ('A', 'sends'),
    (10.100999999999999, 'wait'),
    ('A', 'sends'),
    ('B', 'sends'),
    ('B', 'sends'),
    ('B', 'sends'),
    ('A', 'sends'),
]
WORK = {"A": lambda redis: finish(redis, "A"), "B": lambda redis: finish(redis, "B")}
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
wrong = bool(waits) or not done_has_its_result(plain, told)
print("WRONG" if wrong else "all well")
sys.exit(wrong)
