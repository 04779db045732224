"""walrus 0.9.8: `rate_limit_lua(limit=1, per=5184000)`, asked in whole seconds

The script keeps the list for `limit * 2000` ms instead of `per * 2000` ms: with a limit of 1 it is gone 2 s after an event that was refused, and two months too early.

With an EMPTY Redis or Valkey on this machine (its keys are deleted):

    pip install walrus==0.9.8 redis==8.1.0
    python walrus_call_by_script.py [PORT]
"""

import sys
import threading
import time

import redis as redis_py
from redis.backoff import NoBackoff
from redis.retry import Retry

from walrus import Database
from typing import Any


TWO_MONTHS = 60 * 86_400


def database(redis):
    return Database(connection_pool=redis.connection_pool)


def call_by_script(redis):
    limiter = database(redis).rate_limit_lua("calls", limit=1, per=TWO_MONTHS)
    # As `limit` does it, but in whole seconds: a script writes a fraction on each server otherwise.
    args = [1, TWO_MONTHS, int(time.time())]
    return not limiter.database.run_script("rate_limit", keys=["calls:me"], args=args)


def load(redis):
    for script in database(redis)._scripts.values():
        redis.script_load(script.script)


def at_most_one(_, told) -> bool:
    """One was let through, or none."""
    return list(told.values()).count(True) <= 1


# Who sends its next command; "crash" ends one, "lost" loses its reply; or all wait so many seconds.
ORDER = [
    ('C', 'sends'),
    ('B', 'sends'),
    (2.101, 'wait'),
    ('A', 'sends'),
]
WORK = {"A": call_by_script, "B": call_by_script, "C": call_by_script}
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
load(plain)

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
wrong = bool(waits) or not at_most_one(plain, told)
print("WRONG" if wrong else "all well")
sys.exit(wrong)
