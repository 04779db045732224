"""A fair lock on Redis: first come, first served; drop-in for redis.lock.Lock.

Lock in the place of redis-py's: the same arguments, methods and exceptions, and more FusedLock for
a section that is itself commands: they travel with the lock, no blind write Contender the core of
Lock, for a lock with another interface; its acquire returns a `Held` Clock, Counts, ClusterClient
what one may hand in: protocols

lock.py Lock, redis-py's by its face fused.py FusedLock contender.py one thread's way to the lock:
alone, or with cohort.py the other threads of its process queue.py the line in front of a lock: keep
the lock, hand it over waiter.py one turn: enqueue, be called, accept the lock connections.py what a
thread sends and is called on clients.py which server that is, for each kind of client scripts.py
the scripts in lua/ clock.py time and chance
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
