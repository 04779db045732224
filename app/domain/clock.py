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
    """Return a moment in ms since 1970 as ISO 8601 text in UTC, the form for programs."""
    return None if ms is None else datetime.fromtimestamp(ms / 1000, UTC).isoformat()


class Clock:
    """Time and chance for a mode. The explorer hands in a clock of its own."""

    def now(self) -> float:
        """Return the seconds of a clock that never goes back."""
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        if seconds > 0:
            time.sleep(seconds)

    def random(self) -> float:
        """Return a number in [0, 1)."""
        return random.random()  # noqa: S311  jitter, not secrets

    def wall(self) -> float:
        """Return seconds since 1970 by this machine's clock. It may jump, and others differ."""
        return time.time()

    def token(self) -> str:
        """Return a unique name (128 random bits, in hex)."""
        return secrets.token_hex(16)

    def every(self, seconds: float, deed: Callable[[], bool]) -> Callable[[], None]:
        """Call `deed` each `seconds` in a thread of its own; return a function that stops it.

        It also stops when `deed` returns False. A renewal must not outlive the work: for a method,
        the thread also stops when the thread that asked for it has ended, and when the method's
        object is no longer referenced. A plain function has no such end.
        """
        stopped = threading.Event()
        due = _while_at_work(deed) if isinstance(deed, MethodType) else deed

        def go_on() -> None:
            while not stopped.wait(seconds) and due():
                pass

        threading.Thread(target=go_on, name="every", daemon=True).start()
        return stopped.set


def _while_at_work(method: MethodType) -> Callable[[], bool]:
    """Wrap a method: it returns False when its work is over, and does not keep its object alive."""
    worker = threading.current_thread()
    held = weakref.WeakMethod(method)

    def once() -> bool:
        known = held()
        return worker.is_alive() and known is not None and bool(known())

    return once
