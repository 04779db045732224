"""Writes a history."""

from __future__ import annotations

import threading
from pathlib import Path
from types import TracebackType
from typing import Self

from loadtest.chaos.history import Event, encode


class Recorder:
    """From any number of threads; each event is in the file when `note` returns."""

    def __init__(self, path: Path) -> None:
        self.file = path.open("ab", buffering=0)
        self.lock = threading.Lock()

    def note(self, event: Event) -> None:
        line = encode(event)
        with self.lock:
            self.file.write(line)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.file.close()
