"""Ready-made invariants: `explore(invariant=sum_stays(10, "a", "b"), …)`.

Each returns a function for `invariant`, which is called after every step, or for `at_end`. They
read keys on all servers. A wait that never ends is reported in any case, as *stuck forever*.
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

    Money that is moved is neither made nor lost: the bank test of Jepsen. An actor that takes money
    from one key and adds it to another in two steps breaks this as an `invariant`, and may keep it
    `at_end`.
    """

    def holds(redis: Any) -> bool:
        return sum(_number(store, key) for store in _stores(redis) for key in keys) == total

    return holds


def at_most(most: int, key: str) -> Callable[[Any], bool]:
    """The number in `key` is at most `most`; for a list, a set, a hash … it is the length.

    Examples: sold places, taken permits of a semaphore (Dijkstra, "Cooperating sequential
    processes", 1965), requests in a limiter's window.
    """

    def holds(redis: Any) -> bool:
        return sum(_size(store, key) for store in _stores(redis)) <= most

    return holds


def each_once(done: str, jobs: Sequence[str] | None = None) -> Callable[[Any], bool]:
    """No job is twice in the list `done`, to which a worker appends each job that it has done.

    With all `jobs`, for `at_end`: each of them is in the list. A queue that hands a job out again
    because its worker is silent does it at least once. If the worker is only slow, the job is done
    twice: a pause shows that (Redis' documentation of XAUTOCLAIM; Jepsen's checker total-queue).
    """

    def holds(redis: Any) -> bool:
        times = Counter(text(job) for store in _stores(redis) for job in store.lrange(done, 0, -1))
        if jobs is not None:
            return times == Counter(jobs)
        return all(many == 1 for many in times.values())

    return holds


def no_lost_update(key: str, start: int = 0) -> Callable[[Any, AnswersByName], bool]:
    """Each actor that has answered has added one to the number in `key`, which is `start` at first.

    An actor that answers False has given up and is not counted. If two actors read the same number
    and write the same one, two have answered and one is counted: P4 in Berenson et al., "A critique
    of ANSI SQL isolation levels", 1995.
    """

    def holds(redis: Any, answers: AnswersByName) -> bool:
        added = sum(answer is not False for answer in answers.values())
        return sum(_number(store, key) for store in _stores(redis)) >= start + added

    return holds


@contextmanager
def inside(redis: Any, log: str, name: str) -> Iterator[None]:
    """Record in the list `log` when an actor enters and leaves, for one_holder(). A crash leaves no
    record.
    """
    redis.rpush(log, f"{name} enters")
    try:
        yield
    finally:
        redis.rpush(log, f"{name} leaves")


def one_holder(log: str) -> Callable[[Any], bool]:
    """Between an actor's coming in and its going out (`inside`) no other actor was inside.

    Mutual exclusion (Dijkstra, "Solution of a problem in concurrent programming control", 1965). An
    actor that has crashed inside never goes out, and breaks nothing. An actor that is paused for
    longer than its lease comes out after another has come in (Kleppmann, "How to do distributed
    locking", 2016).
    """

    def holds(redis: Any) -> bool:
        for store in _stores(redis):
            since: dict[str, set[str]] = {}  # actor inside -> actors that came in meanwhile
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
    """A plain function, called once for each actor in some order, could have given all answers.

    `plain` is called with a state, which is `start` at first, and returns the actor's answer and
    the state afterwards: `lambda left: ("bought", left - 1) if left else ("sold out", left)`. A
    list holds A's, B's … functions, for actors that do different things. See linearizability.py.
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
