"""The flagship: a fair lock without polling. A package, as it is more than one idea.

recipe.py      what `lock:queue` uses, and the fused form for sections that are commands
drop_in.py     the same lock behind redis-py's `Lock`
contender.py   one thread's way to the lock: alone, or with
cohort.py      the other threads of its process
line.py        the line: stand in it, be called, take the lock, hand it over
connections.py what a thread speaks and listens on
scripts.py     the scripts of store/lua/queue
"""

from app.locks.queue.drop_in import Lock
from app.locks.queue.recipe import Fused, Queue

__all__ = ["Fused", "Lock", "Queue"]
