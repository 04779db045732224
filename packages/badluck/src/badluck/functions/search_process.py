"""A search of functions in a child of the test's process: it has all that the test has imported."""

from __future__ import annotations

import gc
import json
import os
import signal
import sys
from contextlib import closing
from typing import Any, NoReturn

from badluck.functions.parallel_searches import side_by_side
from badluck.functions.schedule_check import ScheduleCheck
from badluck.orphans import end_with_parent
from badluck.sandbox.actor_process import open_descriptors, silence
from badluck.sandbox.job import ExploreJob, Job
from badluck.sandbox.limits import SEARCH_S


def in_child(job: Job) -> dict[str, Any]:
    """Return the answer to one job. Raises as explore()."""
    seconds = job.seconds if isinstance(job, ExploreJob) else SEARCH_S
    with closing(side_by_side([job], [0], answer_job, seconds)) as answers:
        return next(answers)


def answer_job(job: Job, output: int) -> NoReturn:
    try:
        gc.freeze()  # what our parent holds is not ours to collect
        os.setsid()  # Ctrl-C is for our parent, who ends us
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})  # by it servers are stopped
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
