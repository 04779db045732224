"""Forks and interrupts at the worst moment do not lock a process out."""

from __future__ import annotations

import linecache
import math
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from types import FrameType
from typing import Any

import pytest
import redis
from fairlock import cohort
from fairlock.cohort import Cohort
from fairlock.contender import Contender
from servers.valkey import Valkey
from servers.waiting import until

RUNS_ON = ["valkey"]

NAME = "{apple}:1:lock"
LEASE = 0.3

FORK = """
import math, os, signal
from fairlock import cohort

class Client: ...

client = Client()

def leads():
    member = cohort.CohortMember()
    return cohort.Cohort.join(client, "lock", math.inf, member, 0.0).leader is member

assert leads()
with cohort._mutex:  # as if another thread had it in this moment
    child = os.fork()
    if not child:
        signal.alarm(5)
        os._exit(not leads())
assert os.waitpid(child, 0)[1] == 0
"""


def test_a_forked_child_starts_without_the_cohorts_of_its_parent() -> None:
    subprocess.run([sys.executable, "-c", FORK], check=True, timeout=20)


class Interrupt:
    """A KeyboardInterrupt at the n-th line of a cohort's code, in the thread that calls work()."""

    def __init__(self, step: int) -> None:
        self.left = step

    def work(self, mine: Contender) -> None:
        sys.settrace(self._trace)
        try:
            held = mine.acquire(mine.clock.token(), True, 5)
            if held:
                mine.release(held)
        except KeyboardInterrupt:
            pass
        finally:
            sys.settrace(None)

    def _trace(self, frame: FrameType, event: str, _: Any) -> Any:
        file = frame.f_code.co_filename
        if not file.endswith(("fairlock/cohort.py", "fairlock/contender.py")):
            return None
        # No interrupt comes between a `with` and the C code of its lock, or at a bare `try:`, which
        # does nothing; only a tracer stops there.
        line = linecache.getline(file, frame.f_lineno).strip()
        if event == "line" and not line.startswith(("with ", "try:")):
            self.left -= 1
            if self.left == 0:
                raise KeyboardInterrupt
        return self._trace


def contender(client: redis.Redis) -> Contender:
    return Contender(client, NAME, LEASE, cohort=64)


def not_locked_out(client: redis.Redis, step: int) -> None:
    assert not cohort._mutex.locked()
    mine = contender(client)
    held = mine.acquire("check", True, 2.0)
    assert held, f"interrupted at step {step}: locked out"
    assert mine.release(held)
    assert not cohort._cohorts.get(client)


def seated_or_gone(ours: Cohort, thread: threading.Thread) -> bool:
    return bool(ours.followers) or not thread.is_alive()


def interrupted_cleanup(*_: Any) -> None:
    raise KeyboardInterrupt


@pytest.mark.parametrize("twice", [False, True])
def test_interrupted_alone(
    client: redis.Redis, monkeypatch: pytest.MonkeyPatch, twice: bool
) -> None:
    """Interrupted at any line; `twice`: the cleaning up is interrupted, too."""
    for step in range(1, 200):
        interrupt = Interrupt(step)
        with monkeypatch.context() as patch:
            if twice:
                patch.setattr(Cohort, "leave", interrupted_cleanup)
            thread = threading.Thread(target=interrupt.work, args=(contender(client),))
            thread.start()
            thread.join(10)
        not_locked_out(client, step)
        if interrupt.left > 0:
            assert step > 20
            return
    pytest.fail("the story takes more lines")


def test_interrupted_while_it_sits(client: redis.Redis) -> None:
    for step in range(1, 200):
        first = contender(client)
        held = first.acquire("first")
        assert held
        held.pass_until = math.inf
        ours = next(iter(cohort._cohorts[client].values()))
        interrupt = Interrupt(step)
        thread = threading.Thread(target=interrupt.work, args=(contender(client),))
        thread.start()
        until(partial(seated_or_gone, ours, thread))
        first.release(held)
        thread.join(10)
        not_locked_out(client, step)
        if interrupt.left > 0:
            assert step > 20
            return
    pytest.fail("the story takes more lines")


def test_a_follower_replaces_a_leader_that_is_gone(
    client: redis.Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The leader's thread lives on, and was interrupted before it could call the next one."""
    mine, gone = contender(client), contender(client)
    in_line, sits = threading.Event(), threading.Event()

    def interrupted(*_: Any) -> None:
        in_line.set()
        assert sits.wait(5)
        raise KeyboardInterrupt

    monkeypatch.setattr(gone.queue, "acquire", interrupted)
    got: list[object] = []
    sitter = threading.Thread(target=lambda: got.append(mine.acquire("b", True, 5)))

    def watch() -> None:
        assert in_line.wait(5)
        ours = next(iter(cohort._cohorts[client].values()))
        sitter.start()
        until(lambda: ours.followers)
        sits.set()

    watcher = threading.Thread(target=watch)
    watcher.start()
    with monkeypatch.context() as patch:
        patch.setattr(Cohort, "leave", interrupted_cleanup)
        with pytest.raises(KeyboardInterrupt):
            gone.acquire("a", True, 5)
    watcher.join(5)
    sitter.join(5)
    assert got[0]


def test_all_followers_hear_at_once_that_the_server_is_away(
    own_server: Valkey, pool: ThreadPoolExecutor, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not one timeout after the other: one thread asks the server, and the others get its error."""
    asked: list[str] = []
    with redis.Redis.from_url(own_server.url, socket_timeout=0.4) as client:
        mine = Contender(client, NAME, 10.0, cohort=64)
        ask, all_sit = mine.queue.acquire, threading.Event()

        def counted(token: str, *args: Any) -> Any:
            asked.append(token)
            assert all_sit.wait(5)
            return ask(token, *args)

        monkeypatch.setattr(mine.queue, "acquire", counted)  # to see which thread asks the server
        own_server.freeze()
        futures = [pool.submit(mine.acquire, str(number)) for number in range(8)]
        until(lambda: asked)
        ours = next(iter(cohort._cohorts[client].values()))
        until(lambda: len(ours.followers) == 7)
        all_sit.set()
        for future in futures:
            assert isinstance(future.exception(10), redis.TimeoutError)
        assert len(asked) == 1
        own_server.thaw()
        held = mine.acquire("after")
        assert held
        assert mine.release(held)
