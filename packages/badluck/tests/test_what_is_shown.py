"""A chart shows the keys of its target, in its target's words."""

from __future__ import annotations

from pathlib import Path

import pytest
from badluck import Explorer, Faults, Program, StateRule, View, budget, chart
from badluck.actor.command_text import decoded
from badluck.model.server import begun
from badluck.report.chart import columns
from badluck.report.trace import Step
from badluck.target import EPOCH, Shown, Vocabulary

TAKES = """
def run(redis, name):
    if int(redis.get("tickets")) > 0:
        redis.decr("tickets")
        redis.rpush("holders", name)
"""


def step(shown: Shown, actor: str = "A", fiber: int = 0, does: str = "goes") -> Step:
    return Step(actor, fiber, does, 0, ["GET tickets"], ["1"], "", shown)


def _below_zero(view: View) -> bool:
    return int(view.book.keys["tickets"]) < 0


def test_what_a_program_was_asked_to_show(tmp_path: Path) -> None:
    path = tmp_path / "take.py"
    path.write_text(TAKES)
    target = Program(
        path,
        [("SET", "tickets", 1), ("RPUSH", "holders", "Z")],
        [StateRule("too many", "More are out than there are.", _below_zero)],
        show=["tickets", "holders", "never"],
    )
    report = Explorer(target, 2).explore(Faults())
    trace = report.findings[0].trace
    assert [one.shown["tickets"] for one in trace] == ["1", "1", "0", "-1"]
    head, *_, last = chart(trace, "AB").splitlines()
    assert head.split() == ["actor", "A", "actor", "B", "line", "tickets", "holders"]
    assert [one.line for one in trace] == ["take.py:3", "take.py:3", "take.py:4", "take.py:4"]
    assert last.split()[-2:] == ["-1", "[Z]"]
    assert next(budget(report)).startswith("2 actors (A, B), each run(redis, name) of take.py;")


def test_values_of_every_kind(tmp_path: Path) -> None:
    path = tmp_path / "reads.py"
    path.write_text("def run(redis, name):\n    redis.get('string')\n")
    prepare = [
        ("SET", "string", "a"),
        ("RPUSH", "list", "b", "a"),
        ("SADD", "set", "b", "a"),
        ("HSET", "hash", "b", 1, "a", 2),
        ("XADD", "stream", "*", "b", "a"),
        ("SET", "lock", "mine"),
    ]
    names = ["string", "list", "set", "hash", "stream", "nothing"]
    target = Program(path, prepare, show=names, lock_key=b"lock")
    shown = target.shown(target.book(begun(EPOCH, target.setup())[0].keys.entries))
    values = ["a", "[b, a]", "{a, b}", "{b: 1, a: 2}", "1", "", "mine"]
    assert shown == dict(zip([*names, "lock"], values, strict=True))


def test_a_targets_own_words() -> None:
    words = Vocabulary("reader", "refresher", ("held",), refilled="all books are back")
    steps = [
        step({"left": 3, "held": ""}),
        step({"left": 3, "held": ""}, fiber=1),
        step({"left": 3, "held": "by A"}, "B", does="again"),
    ]
    head, _, first, second = chart(steps, "AB", 80, words).splitlines()
    assert head.split() == ["reader", "A", "reader", "B", "held"]
    assert first.split() == ["2", "(refresher)", "GET", "tickets", "->", "1", "|", "-"]
    assert "comes again; all books are back" in second
    assert second.endswith("  by A")


@pytest.mark.parametrize("columns", range(5))
def test_it_is_no_wider_than_it_may_be(columns: int) -> None:
    shown: Shown = {f"column {n}": "x" * (5 * n) for n in range(1, 1 + columns)}
    time = Step("", 0, "time", 0, ["1 ms"], [], "", shown)
    lines = chart([step(shown), time], "AB", 130).splitlines()
    assert 120 < max(map(len, lines)) <= 130 or not columns


def test_columns_stand_below_each_other_in_any_script() -> None:
    shown: Shown = {"库存": "一", "left": "é"}
    steps = [Step(who, 0, "goes", 0, ["GET 苹果" * 9], ["e\u0301"], "", shown) for who in "AB"]
    lines = chart(steps, "AB", 80).splitlines()
    assert {columns(line[: line.index("|")]) for line in lines if "|" in line} == {4, 36}
    assert {columns(line[: line.index("一")]) for line in lines if "一" in line} == {68}
    assert lines[0].index("库存") == 68
    assert max(map(columns, lines)) <= 80


def test_what_no_terminal_draws_is_escaped() -> None:
    assert decoded(b"\x80\x05\x00|\xe8\x8b\xb9\xe6\x9e\x9c\n") == "\\x80\\x05\\x00|苹果\n"
