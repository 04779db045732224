"""An actor that is stuck in every order is shown up to where all only poll, with its line."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import redis
from badluck import explore
from badluck.report.report import Finding
from workers import adds_a_job, works_for_ever

Redis = redis.Redis


def keeps_the_lock(redis: Redis) -> None:
    while True:
        redis.get("stock")
        if redis.set("lock", 1, nx=True):
            return


def waits_for_nobody(redis: Redis) -> None:
    redis.blpop("jobs")


def polls(redis: Redis) -> None:
    while redis.get("open") is None:
        pass


def takes_its_own_lock(redis: Redis) -> None:
    with redis.lock("lock"), redis.lock("lock"):
        pass


def steps(finding: Finding) -> list[str]:
    return [f"{step.actor} {step.lines[0].split()[0]} {step.replies}" for step in finding.trace]


def stuck(actor: Callable[[Redis], None], count: int = 2) -> Finding:
    (finding,) = explore(actor=actor, count=count).report.findings
    assert finding.name == "stuck forever"
    assert finding.cost.steps == len(finding.trace) > 0
    return finding


def test_a_lock_that_nobody_releases_is_asked_for_once_more_in_vain() -> None:
    finding = stuck(keeps_the_lock)
    (first, last) = ("A", "B") if finding.trace[0].actor == "A" else ("B", "A")
    assert steps(finding) == [
        f"{first} GET ['nil']",
        f"{first} SET ['OK']",
        f"{last} GET ['nil']",
        f"{last} SET ['nil']",
    ]
    line = keeps_the_lock.__code__.co_firstlineno + 2
    where = f'{last} waits in test_stuck.py, line {line}: `redis.get("stock")`.'
    assert where in finding.explanation
    assert finding.cost == (0, 1, 4)


def test_an_empty_list_that_all_wait_for() -> None:
    finding = stuck(waits_for_nobody)
    assert steps(finding) == ["B BLPOP []", "A BLPOP []"]
    assert "A and B wait in test_stuck.py, line" in finding.explanation


def test_who_has_just_asked_in_vain_does_not_ask_again() -> None:
    assert sorted(steps(stuck(polls))) == ["A GET ['nil']", "B GET ['nil']"]


def test_one_that_waits_for_itself() -> None:
    assert steps(stuck(takes_its_own_lock, 1)) == ["A SET ['OK']", "A SET ['nil']"]


def renews_for_ever(redis: Redis) -> None:
    while not redis.set("lock", 1, nx=True, ex=10):
        pass
    threading.Thread(target=renew, args=[redis], daemon=True).start()
    redis.incr("n")


def renew(redis: Redis) -> None:
    while True:
        time.sleep(3)
        redis.expire("lock", 10)


def renews_while_it_is_there(redis: Redis) -> None:
    while not redis.set("lock", 1, nx=True, ex=10):
        pass
    threading.Thread(target=_while_there, args=[redis], daemon=True).start()
    redis.delete("lock")


def _while_there(redis: Redis) -> None:
    time.sleep(3)
    while redis.expire("lock", 10):
        time.sleep(3)


def test_a_thread_goes_on_when_its_work_is_done() -> None:
    """A thread outlives its work, as in a process that lives on: no other actor gets what it
    renews.
    """
    finding = stuck(renews_for_ever)
    line = renew.__code__.co_firstlineno + 2
    waits = f"thread still runs in test_stuck.py, line {line}: `time.sleep(3)`."
    assert waits in finding.explanation
    result = explore(actor=renews_while_it_is_there)
    assert result.report.exhaustive
    assert result.verdict == "holds", result


def forgets_its_timer(redis: Redis) -> None:
    while not redis.set("lock", 1, nx=True, ex=3):
        time.sleep(0.5)
    renews_by_timers(redis)
    redis.incr("worked")


def renews_by_timers(redis: Redis) -> None:
    redis.expire("lock", 3)
    threading.Timer(1, renews_by_timers, [redis]).start()


def test_each_timer_starts_the_next_one() -> None:
    finding = stuck(forgets_its_timer)
    line = renews_by_timers.__code__.co_firstlineno + 2
    assert f"its thread still runs in test_stuck.py, line {line}: " in finding.explanation


def leaves_a_thread(store: redis.Redis) -> None:
    def renew() -> None:
        while True:
            store.expire("lease", 30)
            time.sleep(3)

    threading.Thread(target=renew, daemon=True).start()


def waits_by_the_servers_clock(store: redis.Redis) -> None:
    """The server's first answer is a point in time, not a time from now."""
    clock = "return redis.call('time')[1]"
    began = int(store.eval(clock, 0))
    while int(store.eval(clock, 0)) - began < 5:
        pass
    store.set("done", 1)


def test_the_same_but_for_the_clock_is_not_the_same_to_who_has_asked_it() -> None:
    result = explore(
        actors=[leaves_a_thread, waits_by_the_servers_clock],
        setup=lambda store: store.set("lease", 1, ex=30),
    )
    assert result.verdict == "holds", result


def test_who_works_for_ever_is_drawn_to_where_nothing_is_left_to_do() -> None:
    """The chart does not end where it sleeps while a job is waiting."""
    (finding,) = explore(actors=[adds_a_job, works_for_ever]).report.findings
    assert finding.trace[-1].shown == {"jobs": "", "done": "[a]"}
    assert "Code that runs forever needs an end in a test" in finding.explanation
