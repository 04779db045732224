"""Forks and interrupts at the worst moment do not lock a process out."""

from __future__ import annotations

import subprocess
import sys

RUNS_ON = ["valkey"]

FORK = """
import math, os, signal
from app.locks.queue import cohort

class Client: ...

client = Client()
join = lambda: cohort.Cohort.join(client, "lock", math.inf, 0.0)
join()
with cohort._mutex:  # as if another thread had it in this moment
    child = os.fork()
    if not child:
        signal.alarm(5)
        _, seat = join()
        os._exit(seat is not None)
assert os.waitpid(child, 0)[1] == 0
"""


def test_a_forked_child_starts_without_the_cohorts_of_its_parent() -> None:
    subprocess.run([sys.executable, "-c", FORK], check=True, timeout=20)
