"""Searches that know nothing of each other, each in a child of this process, on all its cores.

Their results are read in their order, and no search uses what another has learned. So the result is
the same on any number of cores. When the caller closes the generator, the searches that are still
running end without a result.
"""

from __future__ import annotations

import math
import os
import select
import signal
import time
import warnings
from collections import deque
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NoReturn

from badluck.sandbox.client import START, parse_answer
from badluck.sandbox.job import ExploreJob, Job
from badluck.sandbox.limits import MAX_ANSWER_BYTES, SHOWING_S

Search = Callable[[Job, int], NoReturn]  # and writes its result there


def cores() -> int:
    """Return the number of cores on which this process may run."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@dataclass
class Child:
    job: Job
    process: int
    reads: int  # the file descriptor of its answer
    until: float  # the time at which it is late
    output: bytes = b""
    ended: int | None = None  # its exit code

    def listen(self) -> None:
        chunk = os.read(self.reads, 1 << 16)
        self.output += chunk
        if not chunk or len(self.output) > MAX_ANSWER_BYTES:
            self.end()

    def end(self) -> None:
        """End the child: it has answered, or is late, or its result is not needed."""
        os.close(self.reads)
        os.kill(self.process, signal.SIGKILL)
        _, status = os.waitpid(self.process, 0)
        self.ended = os.waitstatus_to_exitcode(status)


def side_by_side(
    jobs: Sequence[Job], order: Sequence[int], search: Search, seconds: int
) -> Generator[dict[str, Any], None, None]:
    """Yield the answer of each job in order; raise the error that its child has raised.

    With cores to spare they begin in the `order` of these numbers. None is begun later than after
    `seconds`, except for the first; a search may use the rest of that time.
    """
    until = time.monotonic() + seconds
    limit = cores()
    todo = deque(order if limit > 1 else range(len(jobs)))
    children: dict[int, Child] = {}
    try:
        for nth in range(len(jobs)):
            while nth not in children or children[nth].ended is None:
                running = [child for child in children.values() if child.ended is None]
                left = math.ceil(until - time.monotonic())
                if todo and len(running) < limit and (left > 0 or not children):
                    number = todo.popleft()
                    _begin(jobs[number], max(1, left), search, number, children)
                elif left <= 0 and nth not in children:
                    return
                else:
                    _listen(running)
            child = children[nth]
            yield parse_answer(child.job.target.name, child.ended or 0, child.output)
    finally:
        for child in children.values():
            if child.ended is None:
                child.end()


def _begin(job: Job, seconds: int, search: Search, number: int, children: dict[int, Child]) -> None:
    """Fork a child for one search; its changes to this process's memory are not seen here."""
    if isinstance(job, ExploreJob):
        job = replace(job, seconds=seconds)
    reads, writes = os.pipe()
    # It gets no Ctrl-C before it lets itself, and we none until its process id is known.
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        with warnings.catch_warnings():
            # Python 3.12 and later warn of threads: the child runs none of them.
            warnings.simplefilter("ignore", DeprecationWarning)
            process = os.fork()
        if process == 0:
            os.close(reads)
            search(job, writes)
        late = time.monotonic() + START + seconds + SHOWING_S
        children[number] = Child(job, process, reads, late)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
    os.close(writes)


def _listen(running: Sequence[Child]) -> None:
    """Wait until one of them answers, or is late."""
    late = min(child.until for child in running)
    heard, _, _ = select.select(
        [child.reads for child in running], [], [], max(0.0, late - time.monotonic())
    )
    for child in running:
        if child.reads in heard:
            child.listen()
        elif time.monotonic() >= child.until:
            child.end()
