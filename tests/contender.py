"""A process of its own that takes a lock: to be killed or stopped while it waits or holds.

It says "waiting" when its first try failed and "mine" when it holds the lock; then it answers to
"lost" and "release". `python -m tests.contender` reads the settings, the recipe and the key as one
line of JSON.
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from dataclasses import asdict

from app.config import Settings
from app.domain import Clock
from app.locks import LOCKS
from app.locks.handle import Handle
from app.store.servers import Servers


class Contender:
    """Such a process, from outside."""

    def __init__(self, settings: Settings, recipe: str, key: str, lease: float = 10.0) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.contender"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.tell(json.dumps([asdict(settings), recipe, key, lease]))

    def tell(self, word: str) -> None:
        assert self.process.stdin
        self.process.stdin.write(f"{word}\n")
        self.process.stdin.flush()

    def hear(self) -> str:
        """Its next word; "" when it has ended."""
        assert self.process.stdout
        return self.process.stdout.readline().strip()

    def ask(self, word: str) -> str:
        self.tell(word)
        return self.hear()

    def close(self) -> None:
        self.process.kill()
        self.process.communicate()


def main() -> None:
    settings, recipe, key, lease = json.loads(sys.stdin.readline())
    lock = LOCKS[recipe](Servers(Settings(**settings)), Clock(), key, lease)
    threading.Thread(target=tell_of_waiting, args=(lock,), daemon=True).start()
    lock.acquire()
    print("mine", flush=True)
    for word in sys.stdin:
        print(lock.lost if word.strip() == "lost" else lock.release(), flush=True)


def tell_of_waiting(lock: Handle) -> None:
    pause = threading.Event()
    while not pause.wait(0.01):
        if lock.counts.waits:
            print("waiting", flush=True)
            return


if __name__ == "__main__":
    main()
