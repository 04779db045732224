"""Ends the processes that a killed harness has left: a program that imports nothing of ours.

Its standard input is a pipe from the harness. `+ 17` says that process 17 leads a session of its
own, `- 17` that it has ended. A pipe that ends without the word `done` means that the harness was
killed: then those sessions and all their children are killed, also stopped ones, and the folder is
removed.
"""

from __future__ import annotations

import os
import shutil
import signal
import sys
from contextlib import suppress
from pathlib import Path


def parents() -> dict[int, int]:
    """Return process -> parent for all processes (Linux; elsewhere empty)."""
    parent_of = {}
    for entry in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError, ValueError, IndexError):
            parent_of[int(entry.parent.name)] = int(entry.read_text().rpartition(")")[2].split()[1])
    return parent_of


def family(leader: int) -> list[int]:
    """Return the leader and all its descendants."""
    known, members = parents(), [leader]
    for process in members:
        members += [child for child, parent in known.items() if parent == process]
    return members


def leads_a_session(process: int) -> bool:
    with suppress(OSError):
        return os.getsid(process) == process
    return False


def main(folder: str) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    print("ready", flush=True)
    leaders: set[int] = set()
    for line in sys.stdin:
        word, _, process = line.strip().partition(" ")
        if word == "done":
            return
        if word == "+":
            leaders.add(int(process))
        else:
            leaders.discard(int(process))
    for leader in leaders:
        if leads_a_session(leader):
            for process in family(leader):
                with suppress(OSError):
                    os.kill(process, signal.SIGKILL)
        with suppress(OSError):  # children of a leader that is dead already
            os.killpg(leader, signal.SIGKILL)
    shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main(sys.argv[1])
