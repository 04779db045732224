"""Actors that share a process: the state that each has for itself, and the rest, which is kept."""

from __future__ import annotations

import threading
import time
import uuid

from badluck.actor.actor import Actor, Code
from badluck.actor.connection import client
from badluck.actor.shared_process_patches import sharing
from badluck.target import EPOCH


def test_each_fiber_is_a_thread() -> None:
    """Also for a library that makes its thread-locals when they are first needed."""
    locals_: list[threading.local] = []
    seen: list[list[str]] = []

    def work(actor: Actor) -> str:
        locals_.append(threading.local())
        locals_[-1].mine = "the work's"
        actor.clock.every(1.0, beside)
        client().get("a")
        seen[-1].append(locals_[-1].mine)
        return "done"

    def beside() -> bool:
        seen.append([getattr(locals_[-1], "mine", "nothing")])
        locals_[-1].mine = "the thread's"
        return False

    with sharing():
        actor = Actor("A", Code(work), EPOCH)
        actor.go_on(1, None, EPOCH + 1000)
        actor.go_on(0, (None,), EPOCH + 1000)
    assert seen == [["nothing", "the work's"]]


def test_names_and_idle_times_are_the_same_at_each_run() -> None:
    said: list[tuple[str, float]] = []

    def work(_: Actor) -> str:
        said.append((uuid.uuid4().hex, time.monotonic()))
        return "done"

    with sharing():
        for name in "AAB":
            Actor(name, Code(work), EPOCH)
        assert time.monotonic() > 0, "nobody's code"
        assert uuid.uuid4() != uuid.uuid4()
    assert said[0] == said[1]
    assert said[0][0].replace("41", "42") == said[2][0]
    assert threading.local.__module__ == "_thread"
