"""A command that arrives after its client has given up: its effect, and protection against it."""

from __future__ import annotations

from pathlib import Path

import pytest
from badluck import Explorer, Faults, Program, StateRule, View
from badluck.report.model_backend import ModelBackend
from badluck.report.replay import replay

LOCKED = """
def run(redis, name):
    if not redis.set("lock", name, nx=True):
        return "busy"
    try:
        if int(redis.get("apples")) < 1:
            return "sold out"
        redis.decr("apples")
        return "bought"
    finally:
        redis.delete("lock")
"""
WATCHED = """
from redis import WatchError


def run(redis, name):
    with redis.pipeline() as pipe:
        pipe.watch("apples")
        if int(pipe.get("apples")) < 1:
            return "sold out"
        pipe.multi()
        pipe.decr("apples")
        try:
            pipe.execute()
        except WatchError:
            return "gave up"
    return "bought"
"""
PIPELINED = """
def run(redis, name):
    with redis.pipeline(transaction=False) as pipe:
        pipe.set("lock", name)
        pipe.decr("apples")
        pipe.execute()
"""


def _oversold(view: View) -> bool:
    return int(view.book.keys["apples"]) < 0


OVERSOLD = StateRule("oversold", "More was sold than there was.", _oversold)


def program(folder: Path, code: str) -> Program:
    path = folder / "buy.py"
    path.write_text(code)
    return Program(path, [("SET", "apples", 1)], [OVERSOLD])


def test_it_outlives_the_lock_under_which_it_was_sent(tmp_path: Path) -> None:
    """A lost reply does no harm here: its command ran while the lock was held."""
    explorer = Explorer(program(tmp_path, LOCKED), 2)
    names = [one.name for one in explorer.explore(Faults(lost=1)).findings]
    assert "oversold" not in names
    oversold = explorer.explore(Faults(late=1)).findings[0]
    assert oversold.name == "oversold"
    assert [step.does for step in oversold.trace].count("late") == 1
    assert oversold.trace[-1].does == "arrives"


def test_a_watch_waits_for_it(tmp_path: Path) -> None:
    """A late command's connection stays open until it has arrived, and with it the connection's
    WATCH.
    """
    report = Explorer(program(tmp_path, WATCHED), 2).explore(Faults(late=2))
    assert report.exhaustive
    assert report.findings == []


def test_of_a_pipeline_only_the_last_command_is_late(tmp_path: Path) -> None:
    """A later command of one connection cannot overtake one that is in flight."""
    explorer = Explorer(program(tmp_path, PIPELINED), 1)
    explorer.explore(Faults(late=1))
    assert explorer.graph
    in_flight = {one.commands[0][0] for state in explorer.graph.states for one in state.in_flight}
    assert in_flight == {b"DECRBY"}


@pytest.mark.parametrize("code", [LOCKED, PIPELINED])
def test_it_is_played_as_it_was_found(tmp_path: Path, code: str) -> None:
    target = program(tmp_path, code)
    for finding in Explorer(target, 2).explore(Faults(late=1)).findings:
        played = replay(target, "AB", finding.trace, ModelBackend())
        assert [step.got for step in played if not step.same] == []
