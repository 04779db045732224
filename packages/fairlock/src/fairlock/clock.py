"""Time and random tokens for a lock. Pass a clock of your own to test code that locks."""

from __future__ import annotations

import secrets
import threading
import time
import weakref
from collections.abc import Callable
from typing import Protocol


class Clock(Protocol):
    """All that a lock needs from its environment, except its connections."""

    def now(self) -> float:
        """Return the time in s, by a clock that never goes back."""
        ...

    def sleep(self, seconds: float, /) -> None: ...

    def token(self) -> str:
        """Return a token that no other caller has."""
        ...

    def every(self, seconds: float, task: Callable[[], bool], /) -> Callable[[], None]:
        """Call the method `task` each `seconds`, until it returns False. Return a function that
        stops it.

        The calls must also stop when the thread that started them has ended, or when the method's
        object has been collected: a renewal must not outlive the work.
        """
        ...


class SystemClock:
    """The machine's own clock."""

    def now(self) -> float:
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds)

    def token(self) -> str:
        return secrets.token_hex(16)

    def every(self, seconds: float, task: Callable[[], bool]) -> Callable[[], None]:
        """Call `task` in a thread of its own."""
        stopped = threading.Event()
        worker = threading.current_thread()
        method = weakref.WeakMethod(task)

        def once() -> bool:
            known = method()
            return known is not None and known()

        def go_on() -> None:
            while not stopped.wait(seconds) and worker.is_alive() and once():
                pass

        threading.Thread(target=go_on, name="fairlock-renewal", daemon=True).start()
        return stopped.set
