"""Which of the five tutorials teach a mode or a recipe. What they say of it stands in a template.

1 a sale with WATCH, then with a hand-made lock; 2 a lock to be used again, for Jedis; 3 a lock with
a watchdog; 4 SETNX with the time of its end, GETSET to take over; 5 how a lock is built.
"""

from __future__ import annotations

TAUGHT: dict[str, tuple[int, ...]] = {
    "naive": (),
    "read_before_watch": (1,),
    "watch_elsewhere": (1,),
    "watch": (1,),
    "lock": (1,),
    "watched_blind": (5,),
    "watched": (5,),
    "fenced": (),
    "fused": (),
    "decr": (),
    "sql": (),
    "sql_lock": (),
    "sql_version": (),
    "atomic": (),
    "lock:setnx": (1,),
    "lock:setnx_expire": (1, 5),
    "lock:lease": (2,),
    "lock:unowned": (2,),
    "lock:getset": (4,),
    "lock:del_takeover": (4,),
    "lock:watchdog": (3,),
    "lock:watchdog_any": (3,),
    "lock:fenced": (),
    "lock:redlock": (2,),
    "lock:db_unique": (2,),
    "lock:zookeeper": (2,),
    "lock:queue": (),
}
