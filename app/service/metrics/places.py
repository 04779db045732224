"""The files in which the shop's workers keep their figures, in the format of prometheus-client.

The files belong to a place among the workers, not to a process. A worker that takes the place of
one that died continues from the figures in its files. So no figure ever falls, no file is left
behind, and no name of a process is in the figures. A worker takes a place by locking its file; the
system frees the lock when the process ends.
"""

from __future__ import annotations

import fcntl
import itertools
import os
import time
import weakref
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from prometheus_client.mmap_dict import MmapedDict

# Bytes, all written when the file is made: if the disk had no room for them later, we would
# write through memory, and be killed for it. A mode needs 1,300 of counters, 2,700 of a histogram.
ROOM = {"counter": 64 * 1024, "histogram": 128 * 1024}


class WorkerFiles:
    """One worker's files, for as long as it lives."""

    def __init__(self, folder: Path) -> None:
        """Take the first free place. Raises OSError on a full disk."""
        folder.mkdir(parents=True, exist_ok=True)
        # Each figure's key in the file, and its value when this worker took the place.
        self.known: dict[tuple[str, ...], tuple[str, float]] = {}
        self.files: dict[str, MmapedDict] = {}
        with ExitStack() as taken:  # given back if a file cannot be made
            self.number, lock = _first_free(folder)
            taken.callback(lock.close)
            for kind in ROOM:
                self.files[kind] = _opened(folder, kind, self.number)
                taken.callback(self.files[kind].close)
            # Also when no caller leaves the place: a shop made and dropped within a process.
            self.leave = weakref.finalize(self, taken.pop_all().close)

    def put(
        self,
        kind: str,
        metric: str,
        part: str,
        labels: Mapping[str, str],
        value: float,
        about: str,
    ) -> None:
        """Write this worker's count so far, on top of its predecessors' counts."""
        file, figure = self.files[kind], (metric, part, *labels.values())
        if figure not in self.known:
            key = _key(metric, part, labels, about)
            self.known[figure] = key, file.read_value(key)[0]
        key, before = self.known[figure]
        file.write_value(key, before + value, time.time())


def wipe(folder: Path) -> None:
    """Reset the places that no worker holds to 0: they are left over from an earlier start."""
    for lock in folder.glob("*.lock"):
        with lock.open("a") as held, suppress(BlockingIOError):
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
            for kind in ROOM:
                _path(folder, kind, int(lock.stem)).unlink(missing_ok=True)


def files(folder: Path) -> list[str]:
    """Return the files of all workers, also of dead ones."""
    return [str(path) for path in sorted(folder.glob("*.db"))]


def _first_free(folder: Path) -> tuple[int, IO[str]]:
    for number in itertools.count(1):
        lock = (folder / f"{number}.lock").open("a")
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.close()
        else:
            return number, lock
    raise AssertionError


def _key(metric: str, part: str, labels: Mapping[str, str], about: str) -> str:
    from prometheus_client.mmap_dict import mmap_key

    return mmap_key(metric, metric + part, [*labels], [*labels.values()], about)


def _opened(folder: Path, kind: str, number: int) -> MmapedDict:
    # Only the shop needs it: its master process has loaded it (app/shop/worker.py).
    from prometheus_client.mmap_dict import MmapedDict

    path = _path(folder, kind, number)
    if not path.exists():
        new = path.with_suffix(".new")
        with new.open("wb") as file:
            file.write(bytes(ROOM[kind]))
        os.replace(new, path)
    return MmapedDict(str(path))


def _path(folder: Path, kind: str, number: int) -> Path:
    return folder / f"{kind}_{number}.db"  # as its MultiProcessCollector wants them called
