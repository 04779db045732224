"""Buyers end when all processes that could end them are gone, even if they hang."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

STUCK = """
import gevent, locust.runners, loadtest.stampede as stampede
locust.runners.LocalRunner.stop = lambda _: gevent.sleep(1e6)
stampede.LAST = 1
stampede.run(stampede.Stampede("http://127.0.0.1:9", "apple", 2, longest_s={longest}, patience_s=0))
"""

# A line is due at the moment in which the buyers get the signal to stop.
DUE = """
import gevent.monkey, locust.runners, loadtest.stampede as stampede
stop = locust.runners.LocalRunner.stop
def late(runner):
    gevent.monkey.get_original("time", "sleep")(stampede.EVERY)
    stop(runner)
locust.runners.LocalRunner.stop = late
stampede.run(stampede.Stampede("http://127.0.0.1:9", "apple", 2, longest_s=600, patience_s=10))
"""


@contextmanager
def stuck(longest: int) -> Iterator[subprocess.Popen[str]]:
    """Run buyers who buy without success and never end."""
    code = STUCK.format(longest=longest)
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as it:
        try:
            assert it.stdout
            assert it.stdout.readline(), "it has begun"
            yield it
        finally:
            it.kill()


def test_when_its_time_is_over() -> None:
    with stuck(2) as process:
        assert process.wait(60) == -signal.SIGALRM


def test_soon_after_it_was_told_to_end() -> None:
    with stuck(600) as process:
        process.terminate()
        assert process.wait(100) == -signal.SIGALRM, "not after the ten minutes"


def test_at_once_when_its_reader_was_killed() -> None:
    """Its output and errors are not read any more, and the system sends it SIGTERM."""
    with subprocess.Popen(
        [sys.executable, "-c", DUE], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout
        assert process.stderr
        try:
            assert process.stdout.readline(), "it has begun"
            process.stdout.close()
            process.stderr.close()
            process.terminate()
            assert process.wait(60) != -signal.SIGALRM
        finally:
            process.kill()
