"""Time and chance."""

from __future__ import annotations

import random
import secrets
import threading
import time
import weakref
from collections.abc import Callable
from datetime import UTC, datetime


def iso(ms: int | None) -> str | None:
    """A moment in ms since 1970 as ISO 8601 text in UTC, as programs are told it."""
    return None if ms is None else datetime.fromtimestamp(ms / 1000, UTC).isoformat()


class Clock:
    """Time and chance as a mode sees them. The explorer hands in one of its own."""

    def now(self) -> float:
        """Seconds of a clock that never goes back."""
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        if seconds > 0:
            time.sleep(seconds)

    def random(self) -> float:
        """A number in [0, 1)."""
        return random.random()  # noqa: S311  jitter, not secrets

    def wall(self) -> float:
        """Seconds since 1970, as this machine believes. May jump; others disagree."""
        return time.time()

    def token(self) -> str:
        """A name that nobody else has (128 random bits, in hex)."""
        return secrets.token_hex(16)

    def every(self, seconds: float, deed: Callable[[], bool]) -> Callable[[], None]:
        """Call the method `deed` each `seconds` in a thread of its own; returns what stops that.

        A renewal must not outlive the work: it also stops when `deed` answers False, when the
        thread that asked for it has ended, and when nobody holds the method's object any more.
        """
        stopped = threading.Event()
        worker = threading.current_thread()
        method = weakref.WeakMethod(deed)

        def once() -> bool:
            known = method()
            return known is not None and known()

        def go_on() -> None:
            while not stopped.wait(seconds) and worker.is_alive() and once():
                pass

        threading.Thread(target=go_on, name="every", daemon=True).start()
        return stopped.set
