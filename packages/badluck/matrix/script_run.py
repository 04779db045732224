"""Does a finding's script show what it says, on a real server with its own clock?"""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from pathlib import Path

START = 20.0  # s that a server may take to answer
LONGEST = 90  # s that a script may take
TRIES = 3  # a lease may be over before a busy machine comes to the next step


def shows(script: Path, folder: Path, program: str) -> bool:
    """It ends with an exit code of 1 and the word WRONG; `folder` is for the server's files."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    folder.mkdir(parents=True, exist_ok=True)
    options = ["--port", str(port), "--dir", str(folder), "--save", "", "--appendonly", "no"]
    with subprocess.Popen([program, *options], stdout=subprocess.DEVNULL) as server:
        try:
            _answers(port)
            return any(_wrong(script, port) for _ in range(TRIES))
        finally:
            server.terminate()


def _wrong(script: Path, port: int) -> bool:
    command = [sys.executable, str(script), str(port)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=LONGEST, check=False)
    except subprocess.TimeoutExpired:
        return False
    return done.returncode == 1 and "WRONG" in done.stdout.split()


def _answers(port: int) -> None:
    until = time.monotonic() + START
    while time.monotonic() < until:
        try:
            socket.create_connection(("127.0.0.1", port)).close()
            return
        except OSError:
            time.sleep(0.05)
    raise TimeoutError("the server does not start")
