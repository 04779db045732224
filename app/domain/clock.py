"""Time and chance."""

from __future__ import annotations

import random
import secrets
import threading
import time
import weakref
from collections.abc import Callable
from datetime import UTC, datetime
from types import MethodType


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
        """Call `deed` each `seconds` in a thread of its own; returns what stops that.

        It also stops when `deed` answers False. A renewal must not outlive the work: a method's
        stops as well when the thread that asked for it has ended, and when nobody holds the
        method's object any more. A plain function goes on.
        """
        stopped = threading.Event()
        due = _while_at_work(deed) if isinstance(deed, MethodType) else deed

        def go_on() -> None:
            while not stopped.wait(seconds) and due():
                pass

        threading.Thread(target=go_on, name="every", daemon=True).start()
        return stopped.set


def _while_at_work(method: MethodType) -> Callable[[], bool]:
    """The same, and False when its work is over; it does not keep the method's object."""
    worker = threading.current_thread()
    held = weakref.WeakMethod(method)

    def once() -> bool:
        known = held()
        return worker.is_alive() and known is not None and bool(known())

    return once
