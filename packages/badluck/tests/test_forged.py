"""A file that gets stuck cannot forge the verdict "holds", nor fill the caller's memory."""

from __future__ import annotations

import json
import os
import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from badluck import BadluckError, Faults, Program, Report, explore, explore_apart
from badluck.functions import parallel_searches
from badluck.sandbox import client
from badluck.sandbox.job import ReplayJob

MEGABYTE = 1 << 20
STUCK = "stuck forever"  # with a crash: the lock is never released
LOCKS = """
def run(redis, name):
    while not redis.set("lock", name, nx=True):
        pass
    redis.delete("lock")
"""
HOLDS = {
    "report": {
        "actors": 2,
        "faults": Faults()._asdict(),
        "exhaustive": True,
        "schedules": 6,
        "states": 9,
        "seconds": 0.1,
        "findings": [],
    }
}
FORGE = f"""
import ctypes, gc, os, sys
from greenlet import getcurrent

HOLDS = {HOLDS!r}
LINE = {json.dumps(HOLDS)!r}.encode() + b"\\n"
"""
# Statements that run with the file: their author knows how the search is made.
WAYS = {
    "descriptors": """
for number in range(3, 64):
    try:
        os.write(number, LINE)
    except OSError:
        pass
os._exit(0)
""",
    "os._exit": "os._exit(0)",
    "gc": """
for one in gc.get_objects():
    if hasattr(type(one), "answer") and type(one).__name__ == "Sandbox":
        one.answer(HOLDS)
""",
    "frames": """
frame = getcurrent().parent.gr_frame
while frame:
    for one in [*frame.f_locals.values()]:
        if type(one).__name__ == "Sandbox":
            one.answer(HOLDS)
    frame = frame.f_back
""",
    "sys.modules": """
sys.modules["badluck.report.report"].Report.document = lambda self: HOLDS["report"]
""",
    "ctypes": """
libc = ctypes.CDLL(None)
for number in range(3, 64):
    libc.write(number, LINE, len(LINE))
libc._exit(0)
""",
}


def program(folder: Path, before: str) -> Program:
    path = folder / "take.py"
    path.write_text(f"{FORGE}\n{before}\n{LOCKS}")
    return Program(path)


def explored(folder: Path, before: str) -> Report | None:
    """None: no verdict at all."""
    try:
        return explore_apart(program(folder, before), 2, Faults(crash=1))
    except BadluckError:
        return None


@pytest.mark.parametrize("way", WAYS)
def test_a_file_cannot_forge_its_verdict(tmp_path: Path, way: str) -> None:
    report = explored(tmp_path, WAYS[way])
    assert report is None or [one.name for one in report.findings] == [STUCK]


def test_it_would_fail_honestly(tmp_path: Path) -> None:
    report = explored(tmp_path, "")
    assert report
    assert [one.name for one in report.findings] == [STUCK]


def test_a_played_schedule_is_not_taken_from_a_file_either(tmp_path: Path) -> None:
    """Its code runs in the process that plays, which begins an answer with a secret."""
    played = f"LINE = {json.dumps({'played': {'': []}})!r}.encode()\n"
    job = ReplayJob(program(tmp_path, played + WAYS["descriptors"]), "AB", {"": []}, None, "")
    with pytest.raises(BadluckError, match=r"wrote what the search did not|died"):
        client.run_job(job)


@contextmanager
def little_memory() -> Iterator[None]:
    """Limit the memory of this process, which reads what the other process writes."""
    tracemalloc.start()
    try:
        yield
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most < 8 * MEGABYTE


@pytest.mark.parametrize("descriptor", [1, 2, "all others"])
@pytest.mark.parametrize("plays", [False, True], ids=["searched", "played"])
def test_what_a_file_writes_is_bounded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, descriptor: int | str, plays: bool
) -> None:
    monkeypatch.setattr(client, "MAX_ANSWER_BYTES", MEGABYTE)
    numbers = range(3, 64) if isinstance(descriptor, str) else [descriptor]
    writes = f"""
for number in {[*numbers]}:
    try:
        for _ in range(64):
            os.write(number, bytes(1 << 20))
    except OSError:
        pass
"""
    code = program(tmp_path, writes)
    with little_memory(), suppress(BadluckError):
        client.run_job(ReplayJob(code, "AB", {"": []}, None, "")) if plays else explored(
            tmp_path, writes
        )


def test_what_actors_of_a_test_write_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parallel_searches, "MAX_ANSWER_BYTES", MEGABYTE)

    def write(_: object) -> None:
        for number in range(64):
            for _ in range(64):
                with suppress(OSError):
                    os.write(number, bytes(MEGABYTE))

    with little_memory(), pytest.raises(BadluckError, match="died"):
        explore(actor=write)
