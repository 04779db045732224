"""Jobs for the process of a user's code (see worker.py)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from badluck.faults import Faults
from badluck.report.trace import Step
from badluck.target import Target


class UserTarget(Target, Protocol):
    """A target made of a user's code."""

    @property
    def function(self) -> str:
        """Return the function that an actor calls."""


@dataclass(frozen=True)
class ExploreJob:
    target: UserTarget
    actors: int
    ladder: tuple[Faults, ...]  # one budget after the other, until something is found
    seconds: int  # for all of them


@dataclass(frozen=True)
class ReplayJob:
    target: UserTarget
    names: str
    traces: Mapping[str, Sequence[Step]]
    folder: Path | None  # folder of a real server's files; None: in the model
    program: str  # of the real server


@dataclass(frozen=True)
class FollowJob:
    """Take those steps in the model, with today's code; see functions/schedule_check.py."""

    target: UserTarget
    actors: int
    steps: Sequence[Step]


Job = ExploreJob | ReplayJob | FollowJob
