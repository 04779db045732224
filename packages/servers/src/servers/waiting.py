"""Wait for a state, up to a time limit."""

from __future__ import annotations

import time
from collections.abc import Callable

SLOWER = 6  # times: how much slower than a quick machine a test may run


def wait(holds: Callable[[], object], seconds: float, pause: float = 0.02) -> bool:
    """Wait until `holds()` is true. False: it was not within `seconds`."""
    deadline = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > deadline:
            return False
        time.sleep(pause)
    return True


def until(holds: Callable[[], object], seconds: float = 10.0, said: str = "") -> None:
    """Fail a test when `holds()` is not true after `seconds` of a quick machine."""
    assert wait(holds, seconds * SLOWER), said or f"not within {seconds * SLOWER} s"  # noqa: S101
