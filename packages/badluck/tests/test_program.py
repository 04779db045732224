"""A user's file with rules of its own, in this process and in one of its own."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from badluck import BadCode, Explorer, Faults, Program, StateRule, View, explore_apart

TAKES = """
def run(redis, name):
    if not redis.set("lock", name, nx=True):
        return "busy"
    left = int(redis.get("stock"))
    redis.set("stock", left - 1)
    redis.delete("lock")
    return "bought"
"""
WAITS = """
def run(redis, name):
    while not redis.set("lock", name, nx=True):
        pass
    redis.delete("lock")
"""


def _negative(view: View) -> bool:
    return int(view.book.keys["stock"]) < 0


NEGATIVE = StateRule("negative", "Less than nothing is left.", _negative)


def written(folder: Path, code: str) -> Program:
    path = folder / "take.py"
    path.write_text(code)
    return Program(path, [("SET", "stock", 2)], [NEGATIVE])


def test_what_is_sound_is_looked_at_to_its_end(tmp_path: Path) -> None:
    report = Explorer(written(tmp_path, TAKES), 2).explore(Faults())
    assert report.exhaustive
    assert report.findings == []
    assert report.schedules == 8  # the second asks at one of four moments; any may come second


def test_who_waits_for_the_dead_is_stuck(tmp_path: Path) -> None:
    program = written(tmp_path, WAITS)
    assert Explorer(program, 2).explore(Faults()).findings == []
    (stuck,) = Explorer(program, 2).explore(Faults(crash=1)).findings
    assert stuck.name == "stuck forever"
    assert [step.does for step in stuck.trace] == ["goes", "crash"]


def test_who_gives_up_while_others_come_again_is_starved(tmp_path: Path) -> None:
    program = written(tmp_path, TAKES)
    assert Explorer(program, 2).starve().findings == []
    (starved,) = Explorer(replace(program, gave_up="busy"), 2).starve().findings
    assert starved.name == "starved"
    assert starved.trace[-1].outcome == "busy"


def test_in_a_process_of_its_own(tmp_path: Path) -> None:
    program = Program(written(tmp_path, WAITS).path)
    report = explore_apart(program, 2, Faults(crash=1))
    assert [finding.name for finding in report.findings] == ["stuck forever"]


def test_what_is_wrong_with_the_code_is_said_with_its_line(tmp_path: Path) -> None:
    program = Program(written(tmp_path, "def run(redis, name):\n    return 1 / 0\n").path)
    with pytest.raises(BadCode, match=r"take\.py, line 2, in run: ZeroDivisionError"):
        explore_apart(program, 2, Faults())


def test_a_library_may_look_what_the_system_has_when_it_is_imported(tmp_path: Path) -> None:
    """urllib3 binds a socket at its import, to find out whether there is IPv6."""
    pytest.importorskip("requests")
    code = "def run(redis, name):\n    import requests\n    redis.incr('n')\n"
    report = explore_apart(Program(written(tmp_path, code).path), 2, Faults())
    assert report.exhaustive
