"""Attacks of an actor's code on other processes, in Python and in C; each succeeds unconfined."""

from __future__ import annotations

import asyncio
import ctypes
import errno
import fcntl
import importlib
import logging
import os
import resource
import signal
import socket
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from badluck import BadCode, Program, explore, explore_apart
from badluck.faults import Faults
from badluck.sandbox import limits, seccomp

by_the_kernel = pytest.mark.skipif(
    not seccomp.is_available(), reason="needs Linux and libseccomp (apt install libseccomp2)"
)
IN_C = r"test_kept_out\.py, line \d+, in {}: reaches in C code"
IO_URING_SETUP, SHUT_UP = 425, 0  # a system call's number; a signal that does no harm


@pytest.fixture
def let(monkeypatch: pytest.MonkeyPatch) -> None:
    """Skip the kernel's filter: the child that explores may do all that this process may."""
    monkeypatch.setattr(seccomp, "confine", lambda _: None)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    file = tmp_path / "file"
    file.write_text("as it was")
    return file


@pytest.fixture
def server() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.setblocking(False)
        yield server


@pytest.fixture
def victim() -> Iterator[int]:
    with subprocess.Popen(["sleep", "60"]) as process:
        yield process.pid
        process.kill()


def reaches(server: socket.socket) -> None:
    port: int = server.getsockname()[1]

    def connect(_: object) -> None:
        libc = ctypes.CDLL(None)
        mine = libc.socket(socket.AF_INET, socket.SOCK_STREAM, 0)
        address = socket.AF_INET.to_bytes(2, sys.byteorder) + port.to_bytes(2, "big")
        libc.connect(mine, address + bytes([127, 0, 0, 1]) + bytes(8), 16)

    explore(actors=[connect])


@by_the_kernel
def test_c_code_reaches_no_server(server: socket.socket) -> None:
    with pytest.raises(BadCode, match=IN_C.format("connect")) as said:
        reaches(server)
    assert "mine = libc.socket(" in str(said.value)
    with pytest.raises(BlockingIOError):
        server.accept()


@pytest.mark.usefixtures("let")
def test_it_would_reach_one(server: socket.socket) -> None:
    reaches(server)
    server.accept()[0].close()


def writes(path: bytes) -> None:
    def write(_: object) -> None:
        ctypes.CDLL(None).open(path, os.O_WRONLY | os.O_TRUNC)

    explore(actors=[write])


@by_the_kernel
def test_c_code_writes_no_file(file: Path) -> None:
    with pytest.raises(BadCode, match=IN_C.format("write")):
        writes(bytes(file))
    assert file.read_text() == "as it was"


@pytest.mark.usefixtures("let")
def test_it_would_write_one(file: Path) -> None:
    writes(bytes(file))
    assert file.read_text() == ""


@by_the_kernel
def test_c_code_starts_no_process() -> None:
    def bomb(_: object) -> None:
        ctypes.CDLL(None).fork()

    with pytest.raises(BadCode, match=IN_C.format("bomb")):
        explore(actors=[bomb])


HARMLESS = (
    *("signal", "chmod", "rename", "truncate", "lock", "lock a part"),
    *("unix socket", "datagrams", "limits", "outlive", "priority"),
)
GRAVE = ("attach", "io_uring", "shared memory")  # are not tried where they would succeed


def refused(tried: tuple[str, ...], file: Path, process: int) -> tuple[str, ...]:
    """Return which of those C calls are refused as not permitted."""
    path = bytes(file)

    def attack() -> str:
        libc = ctypes.CDLL(None, use_errno=True)
        reads, space = libc.open(path, os.O_RDONLY), ctypes.create_string_buffer(128)
        libc.getrlimit(resource.RLIMIT_NOFILE, space)
        tries = {
            "signal": lambda: libc.kill(process, SHUT_UP),
            "chmod": lambda: libc.chmod(path, 0o600),
            "rename": lambda: libc.rename(path, path),
            "truncate": lambda: libc.truncate(path, 9),
            "lock": lambda: libc.flock(reads, fcntl.LOCK_SH),
            "lock a part": lambda: libc.fcntl(reads, fcntl.F_GETLK, bytes(64)),
            "unix socket": lambda: libc.socket(socket.AF_UNIX, socket.SOCK_DGRAM, 0),
            "datagrams": lambda: libc.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM, 0, space),
            "limits": lambda: libc.setrlimit(resource.RLIMIT_NOFILE, space),
            "outlive": lambda: libc.prctl(1, signal.SIGTERM, 0, 0, 0),
            "priority": lambda: libc.setpriority(0, process, 19),
            "attach": lambda: libc.ptrace(16, process, 0, 0),
            "io_uring": lambda: libc.syscall(IO_URING_SETUP, 1, bytes(120)),
            "shared memory": lambda: libc.shmget(0, 9, 0o600),
        }
        said = {name: (tries[name](), ctypes.get_errno()) for name in tried}
        return ", ".join(name for name, one in said.items() if one == (-1, errno.EPERM))

    def tell(redis: Any) -> None:
        redis.set("refused", attack())

    (finding,) = explore(actors=[tell], at_end=lambda _: False).report.findings
    told = str(finding.trace[-1].shown["refused"])
    return tuple(told.split(", ")) if told else ()


@by_the_kernel
def test_no_call_of_c_touches_others(file: Path, victim: int) -> None:
    tried = HARMLESS + GRAVE
    assert refused(tried, file, victim) == tried


@pytest.mark.usefixtures("let")
def test_they_would(file: Path, victim: int) -> None:
    assert refused(HARMLESS, file, victim) == ()


def test_what_is_open_here_is_not_open_there(server: socket.socket) -> None:
    """A connection that the test has opened could be used without a new system call."""
    with socket.create_connection(server.getsockname()) as mine:
        number = mine.fileno()

        def speak(_: object) -> None:
            os.write(number, b"SET stock 0")

        explore(actors=[speak]).assert_holds()
        with server.accept()[0] as theirs:
            theirs.setblocking(False)
            with pytest.raises(BlockingIOError):
                theirs.recv(1)


def _open(path: str) -> None:
    Path(path).write_text("x")


def _log(path: str) -> None:
    logging.FileHandler(path)


def _end(path: str) -> None:
    os.kill(len(path), signal.SIGKILL)


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (_open, "changes files"),
        (_log, "changes files"),
        (os.remove, "changes files"),
        (_end, "signals a process"),
    ],
)
def test_without_the_kernel_python_is_asked(
    function: Any, said: str, file: Path, let: None
) -> None:
    path = str(file)

    def do(_: object) -> None:
        function(path)

    with pytest.raises(BadCode, match=rf"test_kept_out\.py, line \d+, in \w+: {said}"):
        explore(actors=[do])
    assert file.read_text() == "as it was"


TAKES = """
import ctypes, socket

def run(redis, name):
    said = ctypes.CDLL(None).socket(socket.AF_INET, socket.SOCK_STREAM, 0)
    redis.set("said", said)
"""


@by_the_kernel
def test_so_is_a_file_in_a_process_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "take.py"
    path.write_text(TAKES)
    with pytest.raises(BadCode, match=r"take\.py, line 5, in run: reaches in C code"):
        explore_apart(Program(path), 2, Faults())


def test_what_reads_and_computes_works(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also calls that Python, its libraries and a loop of asyncio make by themselves."""
    path, installed = str(file), tmp_path / "site-packages"
    installed.mkdir()
    (installed / "never_imported.py").write_text("ANSWER = 42")
    monkeypatch.syspath_prepend(installed)
    monkeypatch.setattr(sys, "dont_write_bytecode", False)

    def work(_: object) -> str:
        one, other = socket.socketpair()
        one.send(Path(path).read_bytes())
        two = sqlite3.connect(":memory:").execute("SELECT 1 + 1").fetchone()
        home = os.path.expanduser("~root")  # may ask a daemon, which it does not reach
        answer = importlib.import_module("never_imported").ANSWER
        asyncio.new_event_loop().close()
        return f"{other.recv(9)!r} {two} {home} {answer} {ZoneInfo('UTC')}"

    explore(actors=[work]).assert_holds()
    assert not (installed / "__pycache__").exists()


def test_it_is_said_who_keeps_it_out(monkeypatch: pytest.MonkeyPatch) -> None:
    assert limits.LIMITS_TEXT.startswith("20 s, 1 GiB of memory, no network, no files written")
    monkeypatch.setattr(seccomp, "LIBRARY", None)
    assert "C code is not kept out here" in seccomp.isolation_text()
    seccomp.confine()
    os.kill(os.getppid(), SHUT_UP)  # it is let
