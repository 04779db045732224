"""The CPU of one sale by place, by py-spy, which samples the shop's workers.

It sees, in each worker, the thread that runs Python; the system's work for it is shown apart. A
sale's waits (for a thread, the store, its disk) are in p50 and in no row here.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
from servers.family import command_line

from loadtest import RunFailed
from loadtest.run import ENDLESS
from loadtest.throughput.load import send
from loadtest.throughput.run import WARM_UP
from loadtest.throughput.servers import ITEM, ServerSet

RATE = 200  # looks a second
MARGIN = 30  # s that py-spy may take to write its samples
# The owner of a worker's work, by the innermost of its frames that is in one of these files.
PLACES = {
    "the store's socket": ("redis/", "hiredis", "app/store/clients/redis"),
    "selling": ("app/modes/", "app/service/", "app/store/", "app/domain/"),
    "reading the request": ("gunicorn/http/", "app/server/connection", "app/server/parse"),
    "between loop and threads": (
        "app/server/gate",
        "gunicorn/workers/",
        "selectors.py",
        "queue.py",
    ),
    "the answer": ("app/server/", "flask/", "werkzeug/", "gunicorn/"),
}
SYSTEM = "system calls of the workers"
OTHERS = "else in the workers"
ROLES = {"valkey-server": "store", "run fulfil": "fulfil", "create_lab": "lab"}


def there() -> bool:
    return shutil.which("py-spy") is not None


def profile(place: ServerSet, mode: str, connections: int, seconds: int) -> dict[str, float]:
    """Return the µs of CPU for one sale, by place, the largest first. Raises RunFailed."""
    number = place.lab.start_round(ITEM, ENDLESS, mode)
    send(place.ours.url, ITEM, "SOLD", connections, WARM_UP)
    workers = [process for process in place.ours.processes if _is_worker(process)]
    before = {process.pid: _used(process) for process in place.ours.processes}
    with tempfile.TemporaryDirectory(prefix="lastapple-profile-") as folder:
        files = [Path(folder) / str(worker.pid) for worker in workers]
        with _watched(workers, files, seconds):
            answers = send(place.ours.url, ITEM, "SOLD", connections, seconds)
        samples = Counter[str]()
        for file in files:
            samples.update(_count_samples(file.read_text().splitlines()))
    place.lab.audit(ITEM, number)  # the booking after the window belongs to the sales, too
    cost: defaultdict[str, float] = defaultdict(float)
    for process in place.ours.processes:
        user, system = (
            (after - was) / answers.good * 1e6
            for after, was in zip(_used(process), before[process.pid], strict=True)
        )
        if process not in workers:
            cost[_role(process)] += user + system
            continue
        cost[SYSTEM] += system
        for name, looks in samples.items():
            cost[name] += user * looks / samples.total()
    return dict(sorted(cost.items(), key=lambda each: -each[1]))


@contextmanager
def _watched(workers: list[psutil.Process], files: list[Path], seconds: int) -> Iterator[None]:
    watching = [
        subprocess.Popen(
            [
                *("py-spy", "record", "--pid", str(worker.pid), "--duration", str(seconds)),
                *("--rate", str(RATE), "--format", "raw", "--output", str(file), "--gil"),
            ],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        for worker, file in zip(workers, files, strict=True)
    ]
    try:
        yield
        for profiler in watching:
            _, errors = profiler.communicate(timeout=seconds + MARGIN)
            if profiler.returncode:
                raise RunFailed(f"py-spy failed: {(errors.strip() or 'no word').splitlines()[-1]}")
    except subprocess.TimeoutExpired as late:
        raise RunFailed("py-spy did not end.") from late
    finally:
        for profiler in watching:
            profiler.kill()
            profiler.wait()


def _count_samples(lines: Iterable[str]) -> Counter[str]:
    """Count samples by place.

    A line is "outer (file:1);inner (file:2) 17": a stack and its count.
    """
    counts = Counter[str]()
    for line in lines:
        stack, _, looks = line.rpartition(" ")
        counts[_place(stack.split(";"))] += int(looks)
    return counts


def _place(frames: list[str]) -> str:
    for frame in reversed(frames):
        for name, files in PLACES.items():
            if any(file in frame for file in files):
                return name
    return OTHERS


def _is_worker(process: psutil.Process) -> bool:
    """Return whether it is a worker: the master has the same command, but another parent."""
    parent = process.parent()
    return parent is not None and all("create_shop" in command_line(p) for p in (process, parent))


def _role(process: psutil.Process) -> str:
    command = command_line(process)
    return next((name for part, name in ROLES.items() if part in command), "supervision")


def _used(process: psutil.Process) -> tuple[float, float]:
    times = process.cpu_times()
    return times.user, times.system
