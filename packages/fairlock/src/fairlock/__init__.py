"""A fair lock on Redis: first come, first served; drop-in for redis.lock.Lock.

Lock        replaces redis-py's: the same arguments, methods and exceptions, and more
FusedLock   for a section of commands only: sent with the lock's own, refused if it is lost
Contender   the core of Lock, for a lock with another interface; its acquire returns a `Held`
Clock, Counts, ClusterClient   protocols of what a caller may pass

lock.py        Lock, with redis-py's interface
fused.py       FusedLock
contender.py   one thread's way to the lock: alone, or with its cohort
cohort.py      the threads of one process
queue.py       the line of waiters: acquire, extend and release the lock
waiter.py      one turn: enqueue, be called, accept the lock
connections.py a thread's two connections, for commands and for messages
clients.py     a connection to the lock's server, for each kind of client
scripts.py     the scripts in lua/
clock.py       time and random tokens
"""

from fairlock.clients import ClusterClient
from fairlock.clock import Clock, SystemClock
from fairlock.cohort import Held
from fairlock.contender import Contender
from fairlock.fused import FusedLock
from fairlock.lock import Lock
from fairlock.queue import Counts

__all__ = [
    "Clock",
    "ClusterClient",
    "Contender",
    "Counts",
    "FusedLock",
    "Held",
    "Lock",
    "SystemClock",
]
