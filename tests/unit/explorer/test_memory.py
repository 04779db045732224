"""What a buyer remembers at each step, and whether it is still so."""

from __future__ import annotations

from typing import Any

import pytest
from badluck.game.board import Board
from badluck.game.memory import Memory, memories
from badluck.game.play import play
from badluck.search.state import CRASHED

from app.explorer.targets import Target, explorable
from tests.unit.explorer.walks import walks


def remembered(target: str, moves: str, buyer: str, at: int = -1) -> dict[str, dict[str, Any]]:
    """By the variable's name."""
    whose = of(target, moves, buyer, at)
    return {one["name"]: one for one in whose["remembers"]}


def of(target: str, moves: str, buyer: str, at: int = -1) -> dict[str, Any]:
    with Target(target).surroundings():
        played = play(Board(Target(target), 2), moves)
    [found] = [one for one in played["places"][at]["actors"] if one["name"] == buyer]
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
    """Its EXEC has aborted: what it knows now it has read in the second attempt."""
    assert remembered("watch", "AABBB", "A")["stock"]["old"]
    assert remembered("watch", "AABBBA", "A") == {}, "not yet"


def test_a_failover_makes_it_old_and_nobody_did() -> None:
    stock = remembered("watch", "AAABBf", "B")["stock"]
    assert (stock["value"], stock["old"], stock["by"], stock["now"]) == ("0", True, "", "1")


def test_what_arrives_late_is_news_to_its_sender() -> None:
    """naive's SET is under way while its buyer, who has given up, is told of an error."""
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


@pytest.mark.parametrize("target", [name for name in explorable() if name != "lock:redlock"])
def test_the_code_does_what_the_search_knows(target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What it asks for next, after each step. (redlock's tokens are numbered anew.)"""
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
