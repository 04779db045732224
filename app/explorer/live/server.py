"""A real server whose wall clock is ours: clock.c in front of it, and a file that says the time."""

from __future__ import annotations

import mmap
import os
import shutil
import struct
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path

from app.domain import ShopError
from app.explorer.live.wire import ANSWER, Wire
from app.store import embedded, throwaway

BUILD = 60.0  # s that the compiler may take; it needs a part of one


def virtual_time() -> bool:
    """Can a server's clock be ours? On Linux, with a C compiler."""
    return os.uname().sysname == "Linux" and shutil.which("cc") is not None


def _shim(folder: Path) -> Path:
    if not virtual_time():
        raise ShopError(
            "A server whose clock is ours needs Linux and a C compiler (on Debian and Ubuntu: apt "
            "install gcc libc6-dev)."
        )
    library = folder / "clock.so"
    source = str(files(__package__) / "clock.c")
    command = ["cc", "-O2", "-Wall", "-Werror", "-shared", "-fPIC", "-o", str(library), source]
    built = subprocess.run(command, capture_output=True, text=True, check=False, timeout=BUILD)
    if built.returncode:
        raise ShopError(f"The C compiler cannot build the clock:\n{built.stderr}")
    return library


class LiveServer:
    """One Valkey or Redis on a Unix socket; its clock says what set() was told last."""

    def __init__(self, path: Path, clock: mmap.mmap) -> None:
        self.path = path
        self.clock = clock
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
        """Until the server has done what it was sent, and seen who hung up.

        It takes what has come from all its clients in turn, so the second question at the latest is
        answered after that.
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
def running(folder: Path, program: str | None = None) -> Iterator[LiveServer]:
    """Keeps what it needs in `folder`, which must exist; `program` instead of the embedded Valkey.

    Raises ShopError when the server or its clock cannot be had.
    """
    file = folder / "clock"
    file.write_bytes(struct.pack("=q", 0))
    path = folder / "store.sock"
    command = embedded.command(0, path, folder, "no")
    if program:
        command[0] = program
    environ = {**os.environ, "LD_PRELOAD": str(_shim(folder)), "LASTAPPLE_CLOCK": str(file)}
    with (
        file.open("r+b") as opened,
        mmap.mmap(opened.fileno(), 8) as clock,
        throwaway.running(command, folder / "server.log", environ=environ),
    ):
        server = LiveServer(path, clock)
        try:
            yield server
        finally:
            server.control.close()
