"""A real server with a simulated wall clock: clock.c is preloaded, and a file gives the time."""

from __future__ import annotations

import mmap
import os
import shutil
import signal
import struct
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path

from badluck.errors import BadluckError
from badluck.orphans import end_with_parent
from badluck.real_server.wire import ANSWER, Wire

BUILD = 60.0  # s that the compiler may take; it needs less than one
START = 20.0  # s that a server may take until it answers; less than one is usual
STOP = 5.0  # s that it may take to stop before it is killed
READY = b"eady to accept connections"  # its log, with r or R
OPTIONS = (
    *("--port", "0", "--unixsocketperm", "700", "--save", "", "--appendonly", "no"),
    *("--busy-reply-threshold", "1000"),  # a script that hangs must be noticed soon
)


def virtual_time() -> bool:
    """Can a server's clock be simulated? On Linux, with a C compiler."""
    return os.uname().sysname == "Linux" and shutil.which("cc") is not None


def _shim(folder: Path) -> Path:
    if not virtual_time():
        raise BadluckError(
            "A server whose clock is ours needs Linux and a C compiler (on Debian and Ubuntu: apt "
            "install gcc libc6-dev)."
        )
    library = folder / "clock.so"
    source = str(files(__package__) / "clock.c")
    command = ["cc", "-O2", "-Wall", "-Werror", "-shared", "-fPIC", "-o", str(library), source]
    built = subprocess.run(command, capture_output=True, text=True, check=False, timeout=BUILD)
    if built.returncode:
        raise BadluckError(f"The C compiler cannot build the clock:\n{built.stderr}")
    return library


class LiveServer:
    """One Valkey or Redis on a Unix socket; its clock says what was passed to set() last."""

    def __init__(self, path: Path, clock: mmap.mmap, process: int) -> None:
        self.path = path
        self.clock = clock
        self.process = process
        self.control = Wire(path)
        self.said: int | None = None  # by us, last

    def connect(self) -> Wire:
        return Wire(self.path)

    def set(self, now: int) -> None:
        """`now` in ms since 1970. Valkey looks at its clock once in a ms: wait until it has."""
        if now == self.said:
            return
        _write(self.clock, now)
        deadline = time.monotonic() + ANSWER
        while self.now() != now:
            if time.monotonic() > deadline:
                raise TimeoutError(f"the server's clock does not say {now}")
        self.said = now

    def settle(self) -> None:
        """Wait until the server has executed all commands, and noticed closed connections.

        It serves its clients in turn, so all of that is done by the answer to the second of two
        pings.
        """
        self.control.ask((b"PING",))
        self.control.ask((b"PING",))

    def now(self) -> int:
        match self.control.ask((b"TIME",)):
            case (bytes(seconds), bytes(micros)):
                return int(seconds) * 1000 + int(micros) // 1000
            case said:
                raise TypeError(f"TIME says {said!r}")


def _write(clock: mmap.mmap, now: int) -> None:
    clock[:] = struct.pack("=q", now)


@contextmanager
def running(folder: Path, program: str) -> Iterator[LiveServer]:
    """Run a server; `program` is a Valkey's or a Redis's. Its files are in `folder`, which must
    exist.

    Raises BadluckError when the server or its clock cannot be used.
    """
    file = folder / "clock"
    file.write_bytes(struct.pack("=q", 0))
    path = folder / "store.sock"
    command = [program, "--unixsocket", str(path), "--dir", str(folder), *OPTIONS]
    # Scripts sort as the locale does; in C's as bytes.
    environ = {**os.environ, "LC_ALL": "C"}
    environ |= {"LD_PRELOAD": str(_shim(folder)), "BADLUCK_CLOCK": str(file)}
    with (
        file.open("r+b") as opened,
        mmap.mmap(opened.fileno(), 8) as clock,
        _process(command, folder / "server.log", environ) as process,
    ):
        server = LiveServer(path, clock, process)
        try:
            yield server
        finally:
            server.control.close()


@contextmanager
def _process(command: list[str], log: Path, environ: Mapping[str, str]) -> Iterator[int]:
    """Start it; yield its process id once it answers."""
    with log.open("wb") as output:
        # A session of its own: the terminal's Ctrl-C is for us, and we stop it in order.
        process = subprocess.Popen(
            command,
            stdout=output,
            stderr=output,
            env=environ,
            start_new_session=True,
            preexec_fn=end_with_parent,
        )
    try:
        deadline = time.monotonic() + START
        while READY not in log.read_bytes():
            if process.poll() is not None or time.monotonic() > deadline:
                raise BadluckError(f"{Path(command[0]).name} does not start:\n{log.read_text()}")
            time.sleep(0.01)
        yield process.pid
    finally:
        process.send_signal(signal.SIGINT)
        try:
            process.wait(STOP)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
