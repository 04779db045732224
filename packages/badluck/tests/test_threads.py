"""Objects that threads of one actor wait on: locks of all kinds, queues, pools."""

from __future__ import annotations

import importlib
import queue
import sys
import threading
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import badluck
import pytest

Redis = Any


def _both(deed: Any) -> None:
    threads = [threading.Thread(target=deed) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def _counts_twice(redis: Redis, lock: AbstractContextManager[object]) -> None:
    def count() -> None:
        with lock:
            redis.set("n", int(redis.get("n") or 0) + 1)

    _both(count)


def without(redis: Redis) -> None:
    _counts_twice(redis, nullcontext())


def with_each(redis: Redis) -> None:
    kinds = (threading.Lock, threading.RLock, threading.Condition, threading.Semaphore)
    for kind in kinds:
        redis.set("n", 0)
        _counts_twice(redis, kind())
        assert redis.get("n") == b"2", kind


def again_inside(redis: Redis) -> None:
    lock = threading.RLock()

    def count() -> None:
        with lock, lock:
            redis.set("n", int(redis.get("n") or 0) + 1)

    _both(count)


def until_told(redis: Redis) -> None:
    condition, done = threading.Condition(), []

    def work() -> None:
        with condition:
            done.append(redis.incr("n"))
            condition.notify_all()

    thread = threading.Thread(target=work)
    thread.start()
    with condition:
        condition.wait_for(lambda: done)
    redis.incr("n")
    thread.join()


def by_a_queue(redis: Redis) -> None:
    jobs: queue.Queue[int | None] = queue.Queue(maxsize=1)

    def work() -> None:
        while (by := jobs.get()) is not None:
            redis.incrby("n", by)

    thread = threading.Thread(target=work)
    thread.start()
    for job in (1, 1, None):
        jobs.put(job)
    thread.join()


def in_vain(redis: Redis) -> None:
    try:
        queue.Queue[int]().get(timeout=1)
    except queue.Empty:
        redis.incrby("n", 2)


def by_a_pool(redis: Redis) -> None:
    with ThreadPoolExecutor(2) as pool:
        for told in as_completed([pool.submit(redis.incr, "n") for _ in range(2)]):
            told.result()


def at_a_barrier(redis: Redis) -> None:
    barrier = threading.Barrier(2, timeout=5)

    def meet() -> None:
        barrier.wait()
        redis.incr("n")

    _both(meet)


def races_in_a_pool(redis: Redis) -> None:
    def count(_: int) -> None:
        redis.set("n", int(redis.get("n") or 0) + 1)

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(count, range(2)))


def twice_the_same(redis: Redis) -> None:
    lock = threading.Lock()
    with lock:
        redis.incr("n")
        with lock:
            redis.incr("n")


def crosswise(redis: Redis) -> None:
    first, second = threading.Lock(), threading.Lock()

    def one_way() -> None:
        with first:
            redis.incr("n")
            with second:
                redis.incr("n")

    thread = threading.Thread(target=one_way)
    thread.start()
    with second:
        redis.incr("n")
        with first:
            redis.incr("n")
    thread.join()


def imports_it_late(redis: Redis) -> None:
    for name in [one for one in sys.modules if one.startswith("concurrent.futures")]:
        del sys.modules[name]
    futures = importlib.import_module("concurrent.futures.thread")
    with futures.ThreadPoolExecutor(1) as pool:
        pool.submit(redis.incrby, "n", 2).result()


class Counts(threading.Thread):
    def __init__(self, redis: Redis) -> None:
        super().__init__(name="counts", daemon=True)
        self.redis = redis
        self._over = False  # a name that is anybody's

    def run(self) -> None:
        self.redis.set("n", int(self.redis.get("n") or 0) + 1)


def by_a_class(redis: Redis) -> None:
    threads = [Counts(redis), Counts(redis)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def hides_it(redis: Redis) -> None:
    with ThreadPoolExecutor(1) as pool:
        pool.submit(redis.pfadd, "seen", 1)
    redis.incrby("n", 2)


def _explored(actor: Any) -> badluck.ExploreResult:
    return badluck.explore(actor=actor, count=1, at_end=lambda redis: redis.get("n") == b"2")


@pytest.mark.parametrize(
    "actor",
    [
        *(with_each, again_inside, until_told, by_a_queue, in_vain, by_a_pool, at_a_barrier),
        imports_it_late,
    ],
)
def test_who_waits_goes_on_when_the_other_has_done_it(actor: Any) -> None:
    assert _explored(actor).verdict == "holds"


@pytest.mark.parametrize("actor", [by_a_pool, in_vain, at_a_barrier])
def test_and_so_it_does_beside_another_process(actor: Any) -> None:
    """A pool takes a lock that all pools of a process share, and looks at the clock."""
    found = badluck.explore(actor=actor, count=2, at_end=lambda redis: redis.get("n") == b"4")
    assert found.verdict == "holds"


@pytest.mark.parametrize("actor", [without, races_in_a_pool, by_a_class])
def test_threads_that_race_are_found(actor: Any) -> None:
    found = _explored(actor)
    assert found.verdict == "fails"
    assert "BROKEN AT THE END" in str(found)


@pytest.mark.parametrize(
    ("actor", "line"), [(twice_the_same, "with lock:"), (crosswise, "with first:")]
)
def test_a_deadlock_is_found_with_its_line(actor: Any, line: str) -> None:
    found = _explored(actor)
    assert "STUCK FOREVER" in str(found)
    assert line in str(found)


def test_what_is_not_known_is_told_also_where_a_pool_keeps_it_to_itself() -> None:
    with pytest.raises(badluck.BadCode, match="PFADD is not supported"):
        _explored(hides_it)


def by_their_names(redis: Redis) -> None:
    seen: list[Any] = []

    def note() -> None:
        seen.append(threading.current_thread())

    main = threading.current_thread()
    assert main is threading.main_thread() is threading.current_thread()
    thread = threading.Thread(target=note)
    assert thread.ident is None
    thread.start()
    redis.get("n")
    thread.join()
    assert seen.pop() is thread is not main
    assert thread.ident not in (None, main.ident)
    redis.rpush("names", main.name, thread.name)


def test_a_thread_knows_which_one_it_is() -> None:
    def as_python_names_them(redis: Redis) -> bool:
        names: list[bytes] = redis.lrange("names", 0, -1)
        return names == [b"MainThread", b"Thread-1 (note)"] * 2

    badluck.explore(actor=by_their_names, count=2, at_end=as_python_names_them).assert_holds()


def owns_by_a_pools_name(redis: Redis) -> None:
    def task() -> None:
        if redis.set("lock", threading.current_thread().name, nx=True, ex=5):
            redis.rpush("names", redis.get("lock"))
            redis.delete("lock")

    for _ in range(2):
        with ThreadPoolExecutor(1) as pool:
            pool.submit(task).result()


def test_pools_are_counted_by_each_process() -> None:
    """Each process gives its threads the same names, however often its code was run before."""

    def as_python_names_them(redis: Redis) -> bool:
        known = {b"ThreadPoolExecutor-0_0", b"ThreadPoolExecutor-1_0"}
        return {*redis.lrange("names", 0, -1)} <= known

    found = badluck.explore(actor=owns_by_a_pools_name, count=2, at_end=as_python_names_them)
    found.assert_holds()


def test_an_exception_in_a_thread_is_found_with_its_schedule() -> None:
    def renews(redis: Redis) -> str:
        if not redis.set("lock", 1, nx=True, ex=10):
            return "busy"
        over = threading.Event()

        def renew() -> None:
            while not over.wait(3):
                if not redis.expire("lock", 10):
                    raise ValueError("it is lost")

        thread = threading.Thread(target=renew)
        thread.start()
        redis.incr("n")
        over.set()
        thread.join()
        return "done"

    assert badluck.explore(actor=renews).verdict == "holds"
    found = badluck.explore(actor=renews, faults="pause=1")
    assert "EXCEPTION, with 1 fault" in str(found)
    last = found.report.findings[0].trace[-1]
    assert (last.fiber, last.lines) == (1, ["EXPIRE lock 10"])
    assert last.outcome.endswith("in renew: ValueError: it is lost")


def test_a_chart_tells_one_thread_from_another() -> None:
    def two(redis: Redis) -> None:
        for key in ("a", "b"):
            threading.Thread(target=redis.incr, args=[key]).start()

    found = badluck.explore(
        actor=two, count=1, at_end=lambda redis: redis.mget("a", "b") != [b"1", b"1"]
    )
    assert "(thread) INCRBY a 1" in str(found)
    assert "(thread 2) INCRBY b 1" in str(found)
