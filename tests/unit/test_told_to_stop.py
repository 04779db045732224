"""SIGTERM is noticed, also when it comes again while the first one is being handled."""

from __future__ import annotations

import subprocess
import sys

# The second signal comes where the first one's event holds its lock: as from a killed `up`, whose
# threads die one by one, each sending fulfil its SIGTERM.
TWICE = """
import os
import signal
import threading
from app.cli.interrupt import told_to_stop

stop = told_to_stop(signal.SIGTERM)
notify_all = threading.Condition.notify_all

def and_again(self):
    threading.Condition.notify_all = notify_all
    os.kill(os.getpid(), signal.SIGTERM)
    notify_all(self)

threading.Condition.notify_all = and_again
os.kill(os.getpid(), signal.SIGTERM)
print(stop.wait(10))
"""


def test_a_second_signal_does_not_wait_for_the_first() -> None:
    child = subprocess.run(
        [sys.executable, "-c", TWICE], capture_output=True, text=True, timeout=15
    )
    assert (child.stdout, child.stderr) == ("True\n", "")
