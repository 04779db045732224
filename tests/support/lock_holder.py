"""A process that takes a lock and obeys messages (see forked_process.Forked).

It sends "hanging" when it gets to where it must hang, "waiting" when its first try to acquire
failed, "mine" when it holds the lock. Then it answers "lost" and "release".
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from multiprocessing.connection import Connection

from app.config import Settings
from app.locks.handle import Handle
from tests.support.locks import KEY, handle, held_up


def hold(
    pipe: Connection,
    settings: Settings,
    name: str,
    lease: float,
    hang_before: str = "",
    key: str = KEY,
) -> None:
    """Take the lock; `hang_before` is a command that it must never send, if given."""

    def hang() -> None:
        pipe.send("hanging")
        signal.pause()

    lock = handle(name, held_up(settings, hang_before, hang), lease_s=lease, key=key)
    held = threading.Event()
    threading.Thread(target=tell_of_waiting, args=(pipe, lock, held), daemon=True).start()
    lock.acquire()
    held.set()
    pipe.send("mine")
    answers: dict[str, Callable[[], object]] = {
        "lost": lambda: lock.lost,
        "release": lock.release,
    }
    while True:
        try:
            word = pipe.recv()
        except EOFError:  # the test has ended
            return
        pipe.send(answers[word]())


def tell_of_waiting(pipe: Connection, lock: Handle, held: threading.Event) -> None:
    while not held.wait(0.005):
        if lock.counts.waits:
            pipe.send("waiting")
            return
