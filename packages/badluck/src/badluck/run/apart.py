"""Explore and replay somebody's own code, in a process of its own (sandbox.py)."""

from __future__ import annotations

import json
import os
import pickle
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from badluck.errors import BadCode, BadluckError
from badluck.faults import Faults
from badluck.orphans import end_with_parent
from badluck.report.replay import Played
from badluck.report.report import Finding, Report
from badluck.report.trace import Step
from badluck.run.job import Explore, OwnTarget, Replay
from badluck.run.limits import DEADLINE, LIMITS, SEARCH
from badluck.search.paths import Cost

SANDBOX = "badluck.run.sandbox"
START = 10  # s for the process and its servers to start


def explore(target: OwnTarget, actors: int, faults: Faults) -> Report:
    """As `Explorer(target, actors).explore(faults)`, but in a process of its own.

    Raises BadCode for what is wrong with the code, or takes too long; BadluckError when the process
    fails.
    """
    return read(target, ask(Explore(target, actors, (faults,), SEARCH)))


def read(target: OwnTarget, answer: dict[str, Any]) -> Report:
    """What the process said that was asked to explore."""
    document = answer["report"]
    findings = [
        Finding(
            finding["name"],
            Cost(*finding["cost"]),
            finding["explanation"],
            [Step(**step) for step in finding["trace"]],
        )
        for finding in document["findings"]
    ]
    return Report(
        target,
        document["actors"],
        Faults(**document["faults"]),
        document["exhaustive"],
        document["schedules"],
        document["states"],
        document["seconds"],
        findings,
        causes=document.get("causes", []),
    )


def replay(
    target: OwnTarget,
    names: str,
    traces: Mapping[str, Sequence[Step]],
    folder: Path | None,
    program: str = "",
) -> dict[str, list[Played]]:
    """On a real server, `program`, that has its files in `folder`; without one in the model.

    Raises as explore().
    """
    found = ask(Replay(target, names, traces, folder, program))["played"]
    return {
        name: [Played(Step(**expected), Step(**got)) for expected, got in played]
        for name, played in found.items()
    }


def ask(job: Any, module: str = SANDBOX) -> dict[str, Any]:
    """What `module` answers, a Sandbox by itself, that knows what to do with such a job.

    Raises as explore().
    """
    name = job.target.name
    try:
        done = subprocess.run(
            # -P: a redis.py or random.py that lies about is not what the code means.
            # -b: Python says where bytes are compared with a text.
            [sys.executable, "-P", "-b", "-m", module],
            input=pickle.dumps(job),
            env={**os.environ, "PYTHONHASHSEED": "0"},  # sets have the same order at each run
            capture_output=True,
            start_new_session=True,  # Ctrl-C is for us, who end it
            preexec_fn=end_with_parent,
            timeout=START + DEADLINE,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise BadCode(f"{name} does not come to an end ({LIMITS}).") from error
    why = done.stderr.decode(errors="replace").strip().rpartition("\n")[2]
    return answered(name, done.returncode, done.stdout, why)


def answered(name: str, ended: int, output: bytes, why: str = "") -> dict[str, Any]:
    """What the process of `name` wrote, that `ended` so. Raises as explore()."""
    if ended == -signal.SIGXCPU:
        raise BadCode(f"{name} does not come to an end ({LIMITS}).")
    try:
        answer: dict[str, Any] = json.loads(output)
    except ValueError as error:
        raise BadluckError(f"The process of {name} died ({ended}): {why}") from error
    if "wrong" in answer:
        raise BadCode(answer["wrong"])
    if "failed" in answer:
        raise BadluckError(answer["failed"])
    return answer
