"""Waiting for something to become true, for so long and no longer."""

from __future__ import annotations

import time
from collections.abc import Callable

from loadtest.chaos import ChaosFailed


def until(what: Callable[[], object], seconds: float, said: str, step: float = 0.05) -> None:
    """Raises ChaosFailed with what is `said` when that takes longer."""
    deadline = time.monotonic() + seconds
    while not what():
        if time.monotonic() > deadline:
            raise ChaosFailed(f"{said} (waited {seconds:g} s)")
        time.sleep(step)
