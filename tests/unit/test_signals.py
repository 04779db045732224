"""Tests that were started in the background, where a shell ignores Ctrl-C, start commands that
react to it all the same. Otherwise the result would depend on how CI starts them.
"""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

ASKS = """
import subprocess, sys
from tests.support.environment import signals_as_usual
{first}
child = "import signal; print(signal.getsignal(signal.{name}) == signal.SIG_IGN)"
print(subprocess.run([sys.executable, "-c", child], capture_output=True, text=True).stdout.strip())
"""


def ignored(name: str, first: str) -> str:
    """Does a command ignore it, when a process that ignores it starts the command?"""
    return ignoring(name, ASKS.format(name=name, first=first))


def ignoring(name: str, code: str) -> str:
    """Return the output of a Python that ignores the signal."""
    number = getattr(signal, name)
    return subprocess.run(
        [sys.executable, "-c", code],
        preexec_fn=lambda: signal.signal(number, signal.SIG_IGN),
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    ).stdout.strip()


@pytest.mark.parametrize("name", ["SIGINT", "SIGQUIT", "SIGHUP"])
def test_what_we_ignore_our_commands_do_not(name: str) -> None:
    assert ignored(name, "signals_as_usual()") == "False"


def test_else_they_would() -> None:
    assert ignored("SIGINT", "") == "True"


RAISES = """
import signal
from tests.support.environment import signals_as_usual
signals_as_usual()
try:
    signal.raise_signal(signal.SIGINT)
except KeyboardInterrupt:
    print("interrupted")
"""


def test_a_test_that_interrupts_itself_is_interrupted() -> None:
    assert ignoring("SIGINT", RAISES) == "interrupted"
