"""`make conformance`: model and graph against real servers, at length. Ends with 1 if they differ.

Random walks on Valkey and on Redis; then every schedule of every case that has up to 100,000, on
the one or the other. Two processes, each with servers of its own.
"""

from __future__ import annotations

import multiprocessing
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable
from contextlib import ExitStack
from itertools import chain
from multiprocessing.pool import Pool
from pathlib import Path
from secrets import randbelow
from typing import NamedTuple

from badluck.real_server.server import LiveServer, running, virtual_time

from app.store import embedded
from tests.integration.explorer.cases import CASES, MOST, Case, differences
from tests.integration.explorer.walk import STEPS, Divergence, Judge

PROCESSES = 2
KINDS = {"Valkey": str(embedded.binary()), "Redis": "redis-server"}  # and the program
WANTED = 1_000_000  # steps of random walks on each kind
SHARE = 10_000  # of them, run by a process at a time

own: dict[str, LiveServer] = {}  # each process's


class Walked(NamedTuple):
    kind: str
    steps: int
    wrong: list[str]


class Compared(NamedTuple):
    case: Case
    kind: str
    schedules: int  # 0: it is not counted
    seconds: float
    wrong: list[str]


def begin(folder: str) -> None:
    """Prepare a worker process. Its servers end with it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the first process
    for kind in KINDS:
        start(kind, Path(folder))


def start(kind: str, folder: Path) -> None:
    """Start a server for this process."""
    place = Path(tempfile.mkdtemp(dir=folder))
    own[kind] = _for_ever.enter_context(running(place, KINDS[kind]))


def start_again(kind: str) -> None:
    """Replace a server that has not answered in time: a late answer could be taken for
    another's.
    """
    start(kind, own[kind].path.parents[1])


_for_ever = ExitStack()


def walk(job: tuple[str, int]) -> Walked:
    """Walk from this seed on."""
    kind, seed = job
    judge = Judge(own[kind])
    wrong = []
    while judge.steps < SHARE:
        try:
            judge.judge(seed)
        except Divergence as divergence:
            wrong.append(f"{kind}, {divergence}")
        except TimeoutError as error:
            wrong.append(f"{kind}, seed {seed}: the server failed, {error}")
            start_again(kind)
            judge.server = own[kind]
        seed += 1
    return Walked(kind, judge.steps, wrong)


def compare(job: tuple[str, Case]) -> Compared:
    kind, case = job
    expected = case.by_graph()
    if expected is None:
        return Compared(case, kind, 0, 0, [])
    began = time.monotonic()
    try:
        got = case.by_servers([own[kind]], MOST)
    except TimeoutError as error:  # nothing more is known of this case; the others must still run
        start_again(kind)
        return Compared(case, kind, 0, 0, [f"{case}, {kind}: the server failed, {error}"])
    wrong = [f"{case}, {kind}: {line}" for line in differences(expected, got)]
    return Compared(case, kind, got.total(), time.monotonic() - began, wrong)


def walk_far(pool: Pool) -> Iterable[str]:
    """Print the progress, and yield what is wrong."""
    first = randbelow(1_000_000_000)
    print(f"Random walks of {STEPS} steps, seeds from {first} on")
    jobs = [(kind, first + steps) for steps in range(0, WANTED, SHARE) for kind in KINDS]
    steps: Counter[str] = Counter()
    for walked in pool.imap_unordered(walk, jobs):
        steps[walked.kind] += walked.steps
        print("\r" + ", ".join(f"{kind}: {steps[kind]:,} steps" for kind in KINDS), end="  ")
        sys.stdout.flush()
        yield from walked.wrong
    print()


def compare_all(pool: Pool) -> Iterable[str]:
    """Print the result of each case, and yield what is wrong."""
    kinds = list(KINDS) * len(CASES)
    counted = Counter({True: 0})
    for one in pool.imap_unordered(compare, zip(kinds, CASES, strict=False)):
        counted[one.schedules > 0] += 1
        if one.wrong and not one.schedules:
            said = "it cannot be said how many schedules"
        elif one.schedules:
            said = f"{one.schedules:,} schedules on {one.kind} in {one.seconds:.1f} s"
        else:
            said = f"not counted: without end, or more than {MOST:,}"
        print(f"{one.case}: {'DIFFERS, ' if one.wrong else ''}{said}", flush=True)
        yield from one.wrong
    print(f"{counted[True]} cases counted, {counted[False]} not")


def main() -> None:
    if not virtual_time():
        sys.exit("This needs Linux and a C compiler: apt install gcc libc6-dev")
    if not shutil.which("redis-server"):
        sys.exit("This needs redis-server: on Debian, apt install redis-server")
    with tempfile.TemporaryDirectory() as folder:
        context = multiprocessing.get_context("spawn")
        with context.Pool(PROCESSES, begin, (folder,)) as pool:
            wrong = 0
            for line in chain(walk_far(pool), compare_all(pool)):
                print(f"\n{line}", flush=True)  # at once, in case the run is stopped
                wrong += 1
    print(f"{wrong} divergences")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
