"""Explore and replay somebody's own code, in a process of its own (sandbox.py)."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from app.domain import ShopError
from app.explorer.explore import Finding, Report
from app.explorer.faults import Faults
from app.explorer.limits import DEADLINE, IN_WORDS
from app.explorer.paths import Cost
from app.explorer.replay import Played
from app.explorer.student import Student
from app.explorer.trace import Step
from app.explorer.wrong import BadSell
from app.store.orphans import end_with_parent

START = 10  # s for the process and its servers to start


def explore(student: Student, buyers: int, faults: Faults) -> Report:
    """Raises BadSell for what is wrong with the code, ShopError when the process fails."""
    job = {"do": "explore", "buyers": buyers, "faults": faults._asdict()}
    document = _ask(student, job)["report"]
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
        student,
        buyers,
        faults,
        document["exhaustive"],
        document["schedules"],
        document["states"],
        document["seconds"],
        findings,
    )


def replay(
    student: Student, names: str, traces: Mapping[str, Sequence[Step]], folder: Path | None
) -> dict[str, list[Played]]:
    """On a real server that has its files in `folder`, or without one in the model.

    Raises as explore().
    """
    job = {
        "do": "replay",
        "names": names,
        "folder": str(folder) if folder else None,
        "traces": {name: [step._asdict() for step in steps] for name, steps in traces.items()},
    }
    found = _ask(student, job)["played"]
    return {
        name: [Played(Step(**expected), Step(**got)) for expected, got in played]
        for name, played in found.items()
    }


def _ask(student: Student, job: dict[str, Any]) -> dict[str, Any]:
    job |= {"file": str(student.path), "stock": student.stock, "resend": student.resend}
    try:
        done = subprocess.run(
            # -P: a redis.py or random.py that lies about is not what the code means.
            [sys.executable, "-P", "-m", "app.explorer.sandbox"],
            input=json.dumps(job).encode(),
            env={**os.environ, "PYTHONHASHSEED": "0"},  # sets have the same order at each run
            capture_output=True,
            start_new_session=True,  # Ctrl-C is for us, who end it
            preexec_fn=end_with_parent,
            timeout=START + DEADLINE,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise BadSell(f"{student.name} does not come to an end ({IN_WORDS}).") from error
    if done.returncode == -signal.SIGXCPU:
        raise BadSell(f"{student.name} does not come to an end ({IN_WORDS}).")
    try:
        answer: dict[str, Any] = json.loads(done.stdout)
    except ValueError as error:
        why = done.stderr.decode(errors="replace").strip().rpartition("\n")[2]
        raise ShopError(f"The process of {student.name} died ({done.returncode}): {why}") from error
    if "wrong" in answer:
        raise BadSell(answer["wrong"])
    if "failed" in answer:
        raise ShopError(answer["failed"])
    return answer
