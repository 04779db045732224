"""What the process of somebody's own code is asked to do (see sandbox.py)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from badluck.faults import Faults
from badluck.report.trace import Step
from badluck.target import Target


class FileTarget(Target, Protocol):
    """As OwnFile makes one. It is sent to another process, so it must be possible to pickle it."""

    @property
    def path(self) -> Path: ...

    @property
    def function(self) -> str: ...


@dataclass(frozen=True)
class Explore:
    target: FileTarget
    actors: int
    faults: Faults


@dataclass(frozen=True)
class Replay:
    target: FileTarget
    names: str
    traces: Mapping[str, Sequence[Step]]
    folder: Path | None  # of a real server's files; None: in the model
    program: str  # of the real server


Job = Explore | Replay
