"""A search of functions in a child of the test's process, which has all imports of the test."""

from __future__ import annotations

import gc
import json
import os
import signal
import sys
import tempfile
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

from badluck.frames.source_position import SourceLine
from badluck.functions.function_target import FunctionTarget
from badluck.functions.parallel_searches import side_by_side
from badluck.functions.schedule_check import ScheduleCheck
from badluck.orphans import end_with_parent
from badluck.report.replay import ReplayedStep
from badluck.report.report import Finding
from badluck.report.trace import Step
from badluck.sandbox.actor_process import open_descriptors, silence
from badluck.sandbox.job import ExploreJob, FollowJob, Job, ReplayJob
from badluck.sandbox.limits import SEARCH_S
from badluck.search.names import LETTERS
from badluck.search.paths import Cost

SERVERS = "badluck-"  # temporary folders


def in_child(job: Job) -> dict[str, Any]:
    """Return the answer to one job. Raises as explore()."""
    seconds = job.seconds if isinstance(job, ExploreJob) else SEARCH_S
    with closing(side_by_side([job], [0], answer_job, seconds)) as answers:
        return next(answers)


def answer_job(job: Job, output: int) -> NoReturn:
    try:
        gc.freeze()  # our parent's objects are not ours to collect
        os.setsid()  # Ctrl-C is for our parent, which ends us
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})  # servers are stopped by it
        end_with_parent()
        silence(*open_descriptors(output))  # also our parent's connections
        sys.stdout = sys.stderr = open(os.devnull, "w")  # noqa: SIM115  pytest has its own
        sys.settrace(None)
        ScheduleCheck(job, output).run()
    except BaseException as error:  # noqa: BLE001  our parent is to know
        failed = f"{job.target.name}: {type(error).__name__}: {error}"
        os.write(output, json.dumps({"failed": failed}).encode())
    finally:
        os._exit(1)  # nothing of our parent's is cleaned up here


class FollowedSchedule(NamedTuple):
    """The result of the same moves with today's code."""

    steps: list[Step]  # up to the first that cannot be taken any more, or breaks a rule
    spots: list[SourceLine | None]  # the line that took each
    finding: Finding | None  # the rule that they break
    sure: bool  # otherwise there was no time to check their locks


def follow(target: FunctionTarget, steps: Sequence[Step]) -> FollowedSchedule:
    """Follow the steps in the model. Raises as explore()."""
    answer = in_child(FollowJob(target, len(target.actors), steps))
    taken = [Step(**step) for step in answer["steps"]]
    spots = [SourceLine(*spot) if spot else None for spot in answer["spots"]]
    finding = None
    if answer["finding"]:
        finding = Finding(answer["finding"], Cost(*answer["cost"]), answer["explanation"], taken)
    return FollowedSchedule(taken, spots, finding, answer["sure"])


def replay(target: FunctionTarget, steps: Sequence[Step], program: str) -> list[ReplayedStep]:
    """Play them on a real server, `program`, up to the first difference. Raises as explore()."""
    shows = tuple(steps[0].shown) if steps else ()
    with tempfile.TemporaryDirectory(prefix=SERVERS) as folder:
        names, same = LETTERS[: len(target.actors)], replace(target, show=shows)
        pairs = in_child(ReplayJob(same, names, {"": steps}, Path(folder), program))["played"][""]
    return [ReplayedStep(Step(**expected), Step(**got)) for expected, got in pairs]
