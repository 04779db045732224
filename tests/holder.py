"""A process that takes a lock and does as it is told on its standard input (see locking.Other).

First line: [settings, recipe, lease, command to hang before or "", key] as JSON. It says "hanging"
when it gets there, "waiting" when its first try to acquire failed, "mine" when it holds the lock.
Then it answers "lost" and "release".
"""

from __future__ import annotations

import json
import signal
import sys
import threading
from collections.abc import Callable

from app.config import Settings
from app.domain import Clock
from app.locks import LOCKS
from app.locks.handle import Handle
from tests.locking import held_up


def main() -> None:
    settings, name, lease, hang_before, key = json.loads(sys.stdin.readline())
    servers = held_up(Settings(**settings), hang_before, hang)
    lock = LOCKS[name](servers, Clock(), key, lease)
    held = threading.Event()
    threading.Thread(target=tell_of_waiting, args=(lock, held), daemon=True).start()
    lock.acquire()
    held.set()
    say("mine")
    answers: dict[str, Callable[[], object]] = {
        "lost": lambda: lock.lost,
        "release": lock.release,
    }
    for word in sys.stdin:
        say(answers[word.strip()]())


def tell_of_waiting(lock: Handle, held: threading.Event) -> None:
    while not held.wait(0.005):
        if lock.counts.waits:
            say("waiting")
            return


def hang() -> None:
    say("hanging")
    signal.pause()


def say(word: object) -> None:
    print(word, flush=True)


if __name__ == "__main__":
    main()
