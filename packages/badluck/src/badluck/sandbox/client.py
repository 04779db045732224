"""Explore and replay a user's own code, in a process of its own (worker.py)."""

from __future__ import annotations

import json
import os
import pickle
import secrets
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from badluck.errors import BadCode, BadluckError
from badluck.faults import Faults
from badluck.orphans import end_with_parent
from badluck.report.replay import ReplayedStep
from badluck.report.report import Finding, Report
from badluck.report.trace import Step
from badluck.sandbox.job import ExploreJob, ReplayJob, UserTarget
from badluck.sandbox.limits import DEADLINE_S, LIMITS, MAX_ANSWER_BYTES, SEARCH_S
from badluck.search.paths import Cost

SANDBOX = "badluck.sandbox.worker"
START = 10  # s for the process and its servers to start


def explore(target: UserTarget, actors: int, faults: Faults) -> Report:
    """Run `Explorer(target, actors).explore(faults)` in a process of its own.

    Raises BadCode for an error in the code, or if it takes too long; BadluckError when the process
    fails.
    """
    return parse_report(target, run_job(ExploreJob(target, actors, (faults,), SEARCH_S)))


def parse_report(target: UserTarget, answer: dict[str, Any]) -> Report:
    """Parse the report of a process that has explored."""
    document = answer["report"]
    findings = [
        Finding(
            finding["name"],
            Cost(*finding["cost"]),
            finding["explanation"],
            [Step.of_document(step) for step in finding["trace"]],
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
    target: UserTarget,
    names: str,
    traces: Mapping[str, Sequence[Step]],
    folder: Path | None,
    program: str = "",
) -> dict[str, list[ReplayedStep]]:
    """Play them on a real server, `program`, with its files in `folder`; without one in the model.

    Raises as explore().
    """
    answer = run_job(ReplayJob(target, names, traces, folder, program))["played"]
    return {
        name: [ReplayedStep(Step(**expected), Step(**got)) for expected, got in played]
        for name, played in answer.items()
    }


def run_job(job: Any, module: str = SANDBOX) -> dict[str, Any]:
    """Run a job in a new process of `module`; return its answer.

    Raises as explore().
    """
    name, nonce = job.target.name, secrets.token_hex().encode()
    try:
        with subprocess.Popen(
            # -P: a redis.py or random.py in the current folder is not imported by mistake. -b:
            # Python warns where bytes are compared with a text.
            [sys.executable, "-P", "-b", "-m", module],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, "PYTHONHASHSEED": "0"},  # sets have the same order in each run
            start_new_session=True,  # Ctrl-C is for us, and we end it
            preexec_fn=end_with_parent,
        ) as process:
            output, errors = _talk(process, pickle.dumps((job, nonce)))
    except subprocess.TimeoutExpired as error:
        raise BadCode(f"{name} does not come to an end ({LIMITS}).") from error
    why = errors.decode(errors="replace").strip().rpartition("\n")[2]
    if output and not output.startswith(nonce):
        raise BadluckError(f"The process of {name} wrote what the search did not: {output[:60]!r}.")
    return parse_answer(name, process.returncode, output.removeprefix(nonce), why)


def _talk(process: subprocess.Popen[bytes], question: bytes) -> tuple[bytes, bytes]:
    """Return what it writes to stdout and stderr, which must fit into MAX_ANSWER_BYTES.

    Raises TimeoutExpired when it does not end in time. The process is killed unless it has ended.
    """
    sends: Any = process.stdin
    output_of: dict[Any, bytearray] = {process.stdout: bytearray(), process.stderr: bytearray()}
    until = time.monotonic() + START + DEADLINE_S
    selector = selectors.DefaultSelector()  # the lab may have too many descriptors for select()
    try:
        with suppress(BrokenPipeError), sends:
            sends.write(question)
        for stream in output_of:
            selector.register(stream, selectors.EVENT_READ)
        while selector.get_map():
            heard: list[Any] = [
                key.fileobj for key, _ in selector.select(max(0, until - time.monotonic()))
            ]
            for stream in heard:
                piece = os.read(stream.fileno(), 1 << 16)
                output_of[stream] += piece
                if not piece or sum(map(len, output_of.values())) > MAX_ANSWER_BYTES:
                    selector.unregister(stream)
                    stream.close()
            if not heard:
                raise subprocess.TimeoutExpired(process.args, START + DEADLINE_S)
        process.wait(max(1, until - time.monotonic()))
    finally:
        selector.close()
        process.kill()
    output, errors = output_of.values()
    return bytes(output), bytes(errors)


def parse_answer(name: str, ended: int, output: bytes, why: str = "") -> dict[str, Any]:
    """Parse the output of the process of `name`, which ended with status `ended`. Raises as
    explore().
    """
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
