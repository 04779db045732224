"""Ready-made invariants: `explore(invariant=sum_stays(10, "a", "b"), …)`.

Each gives a function for `invariant`, that is asked after every step, or for `at_end`. They read
keys on all servers that there are. That nobody waits forever is asked in any case: *stuck for
ever*.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from badluck.functions.linearizability import Linearizable, PlainFunction, text

__all__ = [
    *("at_most", "each_once", "inside", "linearizable", "no_lost_update", "one_holder"),
    "sum_stays",
]

AnswersByName = Mapping[str, object]
SIZES = {"list": "llen", "set": "scard", "zset": "zcard", "hash": "hlen", "stream": "xlen"}


def sum_stays(total: int, *keys: str) -> Callable[[Any], bool]:
    """The whole numbers in `keys`, of a hash those in its fields, make `total`.

    Money that is moved is neither made nor lost: the bank test of Jepsen. Who takes it here
    and puts it there in two steps breaks it as an `invariant`, and may keep it `at_end`.
    """

    def holds(redis: Any) -> bool:
        return sum(_number(store, key) for store in _stores(redis) for key in keys) == total

    return holds


def at_most(most: int, key: str) -> Callable[[Any], bool]:
    """The number in `key` is `most` or less; of a list, a set, a hash … it is how many are in it.

    Places that were sold, permits of a semaphore that are taken (Dijkstra, "Cooperating sequential
    processes", 1965), requests in a limiter's window.
    """

    def holds(redis: Any) -> bool:
        return sum(_size(store, key) for store in _stores(redis)) <= most

    return holds


def each_once(done: str, jobs: Sequence[str] | None = None) -> Callable[[Any], bool]:
    """No job is twice in the list `done`, to which whoever has done one appends it.

    With all `jobs`, for `at_end`: each of them is there. Who hands a job out again because its
    worker is silent does it at least once, and one that is only slow does it twice: a pause
    shows that (Redis' documentation of XAUTOCLAIM; Jepsen's checker total-queue).
    """

    def holds(redis: Any) -> bool:
        times = Counter(text(job) for store in _stores(redis) for job in store.lrange(done, 0, -1))
        if jobs is not None:
            return times == Counter(jobs)
        return all(many == 1 for many in times.values())

    return holds


def no_lost_update(key: str, start: int = 0) -> Callable[[Any, AnswersByName], bool]:
    """Whoever has answered has added one to the number in `key`, which is `start` at first.

    Not who answers False: it has given up. Two that read the same and write the same are two
    that answer and one that counts: P4 in Berenson et al., "A critique of ANSI SQL isolation
    levels", 1995.
    """

    def holds(redis: Any, answers: AnswersByName) -> bool:
        added = sum(answer is not False for answer in answers.values())
        return sum(_number(store, key) for store in _stores(redis)) >= start + added

    return holds


@contextmanager
def inside(redis: Any, log: str, name: str) -> Iterator[None]:
    """Leaves in the list `log` when an actor is in here, for one_holder(); not when it crashes."""
    redis.rpush(log, f"{name} enters")
    try:
        yield
    finally:
        redis.rpush(log, f"{name} leaves")


def one_holder(log: str) -> Callable[[Any], bool]:
    """Between an actor's coming in and its going out (`inside`) nobody else was inside.

    Mutual exclusion (Dijkstra, "Solution of a problem in concurrent programming control",
    1965). Who has crashed never goes out, and disturbs nobody; who stood still for longer than
    its lease comes out after another has come in (Kleppmann, "How to do distributed locking",
    2016).
    """

    def holds(redis: Any) -> bool:
        for store in _stores(redis):
            since: dict[str, set[str]] = {}  # who is inside -> who has come in meanwhile
            for name, _, does in (text(mark).rpartition(" ") for mark in store.lrange(log, 0, -1)):
                if does == "leaves" and since.pop(name, set()):
                    return False
                if does == "enters":
                    for others in since.values():
                        others.add(name)
                    since[name] = set()
        return True

    return holds


def linearizable(plain: PlainFunction | Sequence[PlainFunction], start: Any = None) -> Linearizable:
    """What actors are told, a plain function could have told them, one after the other.

    `plain` is given a state, which is `start` at first, and answers what its actor is to be
    told and the state afterwards: `lambda left: ("bought", left - 1) if left else ("sold out",
    left)`. A list of them is A's, B's …, of actors that do different things. See
    linearizability.py.
    """
    return Linearizable([plain] if callable(plain) else plain, start)


def _stores(redis: Any) -> Sequence[Any]:
    return redis if isinstance(redis, tuple) else (redis,)


def _number(redis: Any, key: str) -> int:
    if text(redis.type(key)) == "hash":
        return sum(map(int, redis.hvals(key)))
    return int(redis.get(key) or 0)


def _size(redis: Any, key: str) -> int:
    size = SIZES.get(text(redis.type(key)))
    return int(getattr(redis, size)(key)) if size else int(redis.get(key) or 0)
