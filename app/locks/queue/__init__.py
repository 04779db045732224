"""The flagship: a fair lock without polling. A package, as it is more than one idea.

recipe.py      what `lock:queue` uses, and the fused form for sections that are commands
drop_in.py     the same lock behind redis-py's `Lock`
contender.py   one thread's way to the lock: alone, or with
cohort.py      the other threads of its process
line.py        the line in front of a lock: keep the lock, hand it over
turn.py        one turn: stand in line, be called, accept the lock
connections.py what a thread speaks and listens on
scripts.py     the scripts of store/lua/queue
"""

from app.locks.queue.drop_in import Lock
from app.locks.queue.recipe import Fused, Queue

__all__ = ["Fused", "Lock", "Queue"]
