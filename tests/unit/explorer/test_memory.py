"""A buyer's memory at each step, and whether it is still current."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from badluck.game.board import Board
from badluck.game.memory import Memory, memories
from badluck.game.play import play
from badluck.search.state import CRASHED

from app.explorer.student import Student
from app.explorer.targets import Target, explorable
from tests.unit.explorer.random_walks import walks


def remembered(target: str | Target | Student, moves: str, buyer: str) -> dict[str, dict[str, Any]]:
    """Return the memory by the variables' names."""
    return {one["name"]: one for one in of(target, moves, buyer)["remembers"]}


def of(target: str | Target | Student, moves: str, buyer: str) -> dict[str, Any]:
    whole = Target(target) if isinstance(target, str) else target
    with whole.surroundings():
        played = play(Board(whole, 2), moves)
    [found] = [one for one in played["places"][-1]["actors"] if one["name"] == buyer]
    return dict(found)


def test_what_it_read_is_old_when_another_has_written() -> None:
    """The lecture's question at step 5: what does A believe?"""
    before = remembered("naive", "AB", "A")["stock"]
    assert (before["value"], before["since"], before["key"]) == ("1", 1, "stock")
    assert not before["old"]
    after = remembered("naive", "ABB", "A")["stock"]
    assert (after["old"], after["by"], after["now"]) == (True, "B", "0")
    assert remembered("naive", "ABBBA", "A")["stock"]["old"], "that it writes makes it no younger"


def test_who_has_written_it_himself_knows() -> None:
    known = remembered("naive", "ABB", "B")
    assert not known["stock"]["old"]
    assert known["left"] | {"since": 2, "key": "", "old": False} == known["left"], "worked out"


def test_another_who_writes_the_same_changes_nothing() -> None:
    """A writes 0 over the 0 that B has written."""
    assert not remembered("naive", "ABBA", "B")["stock"]["old"]


def test_nothing_is_remembered_before_and_after() -> None:
    assert remembered("naive", "", "A") == {}
    assert remembered("naive", "AAAA", "A") == {}, "it is at its end"
    assert remembered("naive", "AxA", "A") == {}, "it has crashed"


def test_a_second_attempt_reads_anew() -> None:
    """Its EXEC has aborted: its memory now comes from the second attempt."""
    assert remembered("watch", "AABBB", "A")["stock"]["old"]
    assert remembered("watch", "AABBBA", "A") == {}, "not yet"


def test_a_failover_makes_it_old_and_nobody_did() -> None:
    stock = remembered(Target("watch", stock=2), "AAABBf", "B")["stock"]
    assert (stock["value"], stock["old"], stock["by"], stock["now"]) == ("1", True, "", "2")


def test_what_arrives_late_is_news_to_its_sender() -> None:
    """naive's SET is under way while its buyer, who has given up, gets an error."""
    stock = remembered("naive", "BAgAaA", "B")["stock"]
    assert (stock["old"], stock["by"], stock["now"]) == (True, "A", "0")


def test_a_script_reads_too() -> None:
    assert remembered("fenced", "AA", "A")["stock"]["key"] == "stock"
    assert remembered("fused", "A", "A")["stock"]["since"] == 1


def test_a_lock_that_is_gone_is_told_to_who_is_inside() -> None:
    assert not of("lock:lease", "AA", "A")["lock_lost"]
    assert of("lock:lease", "AAp", "A")["lock_lost"]
    assert of("lock:lease", "AApB", "A")["lock_lost"], "it is another's"
    assert not of("lock:lease", "AApB", "B")["lock_lost"]


# Ways in which students read the stock, each in one step of a buyer.
READS = {
    "int": "stock = int(redis.get('stock'))",
    "the text itself": "stock = redis.get('stock')",
    "str": "stock = str(redis.get('stock'), 'ascii')",
    "decode": "stock = redis.get('stock').decode()",
    "float": "stock = float(redis.get('stock'))",
    "JSON": "stock = json.loads(redis.get('stock'))",
    "or nothing": "stock = int(redis.get('stock') or 0)",
    "in an expression": "if (stock := int(redis.get('stock'))) < 1: return False",
    "reckoned": "stock = 10 * int(redis.get('stock')) - 2",
    "in two lines": "raw = redis.get('stock'); stock = int(raw)",
    "under one name": "stock = redis.get('stock'); stock = int(stock)",
    "one less": "stock = int(redis.get('stock')); stock -= 1",
    "unpacked": "stock, lock = redis.mget('stock', 'lock')",
    "from a list": "values = redis.mget(['stock', 'lock']); stock = int(values[0])",
    "of a pair": "stock, one = int(redis.get('stock')), 1",
    "all converted": "stock, lock = map(int, [redis.get('stock'), 7])",
    "by a function": "stock = read(redis)",
    "made by a function": "stock = number(redis.get('stock'))",
    "in a function": "return take(redis, buyer, int(redis.get('stock')))",
}
SELL = """
import json

def sell(redis, buyer):
    tries = 1
    {}
    length = len('1')
    return take(redis, buyer, stock)

def read(redis):
    return int(redis.get('stock'))

def number(text):
    return int(text)

def take(redis, buyer, stock):
    redis.set('stock', 0)
    redis.rpush('orders', buyer)
    return True
"""


def students(folder: Path, reads: str) -> Student:
    file = folder / "my_sell.py"
    file.write_text(SELL.format(reads))
    return Student(file)


@pytest.mark.parametrize("reads", READS)
def test_what_a_student_has_read_is_followed(reads: str, tmp_path: Path) -> None:
    of_a = of(students(tmp_path, READS[reads]), "ABB", "A")["remembers"]
    [stock] = [one for one in of_a if one["key"]]
    assert (stock["name"], stock["key"], stock["since"]) == ("stock", "stock", 1)
    assert (stock["old"], stock["by"], stock["now"]) == (True, "B", "0")


@pytest.mark.parametrize(
    ("reads", "value"),
    [("int", "1"), ("the text itself", "b'1'"), ("decode", "'1'"), ("float", "1.0")],
)
def test_a_value_is_shown_as_python_has_it(reads: str, value: str, tmp_path: Path) -> None:
    of_a = remembered(students(tmp_path, READS[reads]), "A", "A")
    assert (of_a["stock"]["value"], of_a["buyer"]["value"]) == (value, "'A'")


def test_what_was_never_read_has_no_key(tmp_path: Path) -> None:
    """Even if its value equals one that was read."""
    file = tmp_path / "my_sell.py"
    file.write_text(
        "def sell(redis, buyer):\n"
        "    tries, stock = 1, int(redis.get('stock'))\n"
        "    size = len([stock])\n"
        "    length = redis.rpush('orders', buyer)\n"
        "    redis.set('stock', stock - length)\n"
        "    return True\n"
    )
    of_a = remembered(Student(file), "AA", "A")
    assert {one["name"]: one["key"] for one in of_a.values()} == {
        **dict.fromkeys(("buyer", "tries", "size", "length"), ""),
        "stock": "stock",
    }


def test_a_key_that_is_gone_has_no_text(tmp_path: Path) -> None:
    file = tmp_path / "my_sell.py"
    file.write_text(
        "def sell(redis, buyer):\n"
        "    stock = int(redis.get('stock') or 0)\n"
        "    redis.delete('stock')\n"
        "    redis.rpush('orders', buyer)\n"
        "    return True\n"
    )
    stock = remembered(Student(file), "ABB", "A")["stock"]
    assert (stock["old"], stock["by"], stock["now"]) == (True, "B", None)


@pytest.mark.parametrize("target", [name for name in explorable() if name != "lock:redlock"])
def test_the_code_does_what_the_search_knows(target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The code's next request is the search's after each step. (redlock's tokens differ.)"""
    looked: list[Memory] = []
    init = Memory.__init__

    def kept(memory: Memory, *given: Any) -> None:
        init(memory, *given)
        looked.append(memory)

    monkeypatch.setattr(Memory, "__init__", kept)
    for board, moves, ways in walks(target, 5):
        looked.clear()
        for number, _ in zip([0, *(way.to for way in ways)], memories(board, ways), strict=True):
            nodes = zip(board.automata, board.states[number].nodes, strict=True)
            for memory, (known, at) in zip(looked, nodes, strict=True):
                if at != CRASHED and not known.nodes[at].ended:
                    assert memory.actor.requests == known.nodes[at].requests, moves
