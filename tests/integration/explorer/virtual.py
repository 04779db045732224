"""A real server whose wall clock is ours: clock.c in front of it, and a file that says the time."""

from __future__ import annotations

import mmap
import os
import socket
import struct
import subprocess
import time
from pathlib import Path

import hiredis

from app.explorer.model.values import Command, Err, Reply
from app.store import embedded
from tests.servers import until

SHIM = Path(__file__).with_name("clock.c")
EPOCH = 1_900_000_000_000  # ms since 1970: where every walk begins
ANSWER = 5.0  # s to wait for any answer


def shim(folder: Path) -> Path:
    """The compiled shim. Needs a C compiler."""
    library = folder / "clock.so"
    subprocess.run(  # the compiler of this machine
        ["cc", "-O2", "-Wall", "-Werror", "-shared", "-fPIC", "-o", library, SHIM], check=True
    )
    return library


class Connection:
    """Speaks RESP2 and shows replies as the model does."""

    def __init__(self, path: Path) -> None:
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(ANSWER)
        self.socket.connect(str(path))
        self.reader = hiredis.Reader(notEnoughData=self)

    def send(self, command: Command) -> None:
        words = [b"$%d\r\n%s\r\n" % (len(word), word) for word in command]
        self.socket.sendall(b"*%d\r\n%s" % (len(command), b"".join(words)))

    def read(self) -> Reply:
        while (reply := self.reader.gets()) is self:
            self.reader.feed(self.socket.recv(65536))
        return plain(reply)

    def ask(self, command: Command) -> Reply:
        self.send(command)
        return self.read()

    def silent(self) -> bool:
        """Has nothing been sent that was not read?"""
        self.socket.settimeout(0)
        try:
            self.reader.feed(self.socket.recv(65536))
        except BlockingIOError:
            return self.reader.gets() is self
        finally:
            self.socket.settimeout(ANSWER)
        return False

    def close(self) -> None:
        self.socket.close()


def plain(reply: object) -> Reply:
    if isinstance(reply, list):
        return tuple(plain(one) for one in reply)
    if isinstance(reply, hiredis.ReplyError):
        return Err(str(reply))
    if isinstance(reply, bytes | int) or reply is None:
        return reply
    raise TypeError(f"{type(reply).__name__} in a reply")


class VirtualServer:
    """One Valkey or Redis on a Unix socket in `folder`; its clock says what set() was told last."""

    def __init__(self, folder: Path, program: str | None = None) -> None:
        clock = folder / "clock"
        clock.write_bytes(bytes(8))
        with clock.open("r+b") as file:
            self.clock = mmap.mmap(file.fileno(), 8)
        self._write(EPOCH)
        self.path = folder / "store.sock"
        command = embedded.command(0, self.path, folder, "no")
        if program:
            command[0] = program
        environ = {**os.environ, "LD_PRELOAD": str(shim(folder)), "LASTAPPLE_CLOCK": str(clock)}
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, env=environ)
        until(self.path.exists)
        self.control = self.connect()

    def set(self, now: int) -> None:
        """`now` in ms since 1970. Valkey looks at its clock once in a ms: wait until it has."""
        self._write(now)
        deadline = time.monotonic() + ANSWER
        while self._says() != now:
            if time.monotonic() > deadline:
                raise TimeoutError(f"the server's clock does not say {now}")

    def _write(self, now: int) -> None:
        self.clock[:] = struct.pack("=q", now)

    def _says(self) -> int:
        match self.control.ask((b"TIME",)):
            case (bytes(seconds), bytes(micros)):
                return int(seconds) * 1000 + int(micros) // 1000
            case said:
                raise TypeError(f"TIME says {said!r}")

    def connect(self) -> Connection:
        return Connection(self.path)

    def stop(self) -> None:
        self.control.close()
        self.clock.close()
        self.process.terminate()
        self.process.wait(10)
