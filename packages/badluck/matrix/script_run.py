"""Does a finding's script show what it says, on a real server with its own clock?"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from servers.ports import free_port
from servers.process import Server

LONGEST = 90  # s that a script may take
TRIES = 3  # a lease may be over before a busy machine comes to the next step


def shows(script: Path, folder: Path, program: str) -> bool:
    """It ends with an exit code of 1 and the word WRONG; `folder` is for the server's files."""
    port = free_port()
    folder.mkdir(parents=True, exist_ok=True)
    options = ["--port", str(port), "--dir", str(folder), "--save", "", "--appendonly", "no"]
    with Server([program, *options], folder / "server.log"):
        return any(_wrong(script, port) for _ in range(TRIES))


def _wrong(script: Path, port: int) -> bool:
    command = [sys.executable, str(script), str(port)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=LONGEST, check=False)
    except subprocess.TimeoutExpired:
        return False
    return done.returncode == 1 and "WRONG" in done.stdout.split()
