"""A schedule that was found before: in the model once more, and on a real server."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from badluck.frames.source_position import SourceLine
from badluck.functions.function_target import FunctionTarget
from badluck.functions.search_process import in_child
from badluck.report.replay import ReplayedStep
from badluck.report.report import Finding
from badluck.report.trace import Step
from badluck.sandbox.job import FollowJob, ReplayJob
from badluck.search.names import LETTERS
from badluck.search.paths import Cost

SERVERS = "badluck-"  # temporary folders


class FollowedSchedule(NamedTuple):
    """How the same moves go today."""

    steps: list[Step]  # up to the first that cannot be taken any more, or breaks a rule
    spots: list[SourceLine | None]  # the line that took each
    finding: Finding | None  # the rule that they break
    sure: bool  # else it took too long to know of their locks


def follow(target: FunctionTarget, steps: Sequence[Step]) -> FollowedSchedule:
    """In the model. Raises as explore()."""
    answer = in_child(FollowJob(target, len(target.actors), steps))
    taken = [Step(**step) for step in answer["steps"]]
    spots = [SourceLine(*spot) if spot else None for spot in answer["spots"]]
    finding = None
    if answer["finding"]:
        finding = Finding(answer["finding"], Cost(*answer["cost"]), answer["explanation"], taken)
    return FollowedSchedule(taken, spots, finding, answer["sure"])


def replay(target: FunctionTarget, steps: Sequence[Step], program: str) -> list[ReplayedStep]:
    """On a real server, `program`, to the first step that goes otherwise. Raises as explore()."""
    shows = tuple(steps[0].shown) if steps else ()
    with tempfile.TemporaryDirectory(prefix=SERVERS) as folder:
        names, same = LETTERS[: len(target.actors)], replace(target, show=shows)
        pairs = in_child(ReplayJob(same, names, {"": steps}, Path(folder), program))["played"][""]
    return [ReplayedStep(Step(**expected), Step(**got)) for expected, got in pairs]
