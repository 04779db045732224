"""A stepped wall clock for a process of the shop under test.

Python imports a module of this name by itself if its folder is in PYTHONPATH. The step, in s, is in
a file named after the process's id; without the file there is no step. Monotonic clocks do not
step, so neither does time.monotonic().
"""

import os
import time

_folder = os.environ.get("CHAOS_CLOCKS", "")
_true = time.time
_true_ns = time.time_ns


def _step() -> float:
    try:
        with open(f"{_folder}/{os.getpid()}") as file:
            return float(file.read() or 0)
    except (OSError, ValueError):
        return 0.0


def _stepped() -> float:
    return _true() + _step()


def _stepped_ns() -> int:
    return _true_ns() + int(_step() * 1e9)


if _folder:
    time.time = _stepped
    time.time_ns = _stepped_ns
