"""A schedule that a player chooses: its lines, its words, the possible next steps."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from badluck.game.play import LONGEST, split

from app.explorer.desk import Desk
from app.service import catalogue


@pytest.fixture(scope="module")
def desk() -> Iterator[Desk]:
    desk = Desk()
    yield desk
    desk.boards.clear()


def play(desk: Desk, target: str, moves: str, buyers: int = 2) -> dict[str, Any]:
    return desk.answer({"do": "play", "target": target, "buyers": buyers, "moves": moves})


def search(desk: Desk, target: str, buyers: int = 2, **faults: int) -> dict[str, Any]:
    return desk.answer({"do": "search", "target": target, "buyers": buyers, "faults": faults})


def buyer(played: dict[str, Any], name: str, at: int = -1) -> dict[str, Any]:
    [found] = [one for one in played["places"][at]["actors"] if one["name"] == name]
    return dict(found)


def written(played: dict[str, Any]) -> set[str]:
    return {choice["move"] for choice in played["choices"]}


# Text of the line from which a command is sent.
SENDS = {
    "MGET": "self.sales.read(",
    "SET stock": ".set(self.keys.stock",
    "XADD": "self.sales.record(",
    "MSET": "self.sales.record(",
    "WATCH": ".watch(",
    "UNWATCH": "with self.store.pipeline()",
    "MULTI": ".execute()",
    "SET lock": "self.store.set(self.key, self.token",
    "write.lua": "self.write(",
    "release.lua": "self.delete_if_mine(",
}


@pytest.mark.parametrize(
    ("target", "moves", "files"),
    [
        ("naive", "ABBBBAAA", {"app.modes.naive"}),
        ("watch", "AABBBAAA", {"app.modes.watch"}),
        ("lock:lease", "AAApBBBA", {"app.modes.lock", "app.locks.lease"}),
    ],
)
def test_the_lit_line_is_the_one_that_sends(
    desk: Desk, target: str, moves: str, files: set[str]
) -> None:
    played = play(desk, target, moves)
    assert "impossible" not in played
    seen = set()
    for at, place in enumerate(played["places"][1:]):
        step = place["step"]
        if step["does"] == "pause":
            continue
        [wait] = buyer(played, step["actor"], at)["waits"]
        module, number = wait["spots"][-1]
        line = catalogue.source(module).splitlines()[number - 1]
        [sends] = [text for begins, text in SENDS.items() if step["lines"][0].startswith(begins)]
        assert sends in line, step["lines"][0]
        assert wait["spots"][0][0] == catalogue.module_of(target), "the mode's own line comes first"
        seen |= {module for module, _ in wait["spots"]}
    assert seen == files


@pytest.mark.parametrize(
    "target", ["naive", "watch_elsewhere", "lock:lease", "lock:setnx_expire", "fenced", "decr"]
)
def test_what_the_search_finds_goes_wrong_when_it_is_played(desk: Desk, target: str) -> None:
    report = search(desk, target, crash=1, pause=1, lost=1, failover=1)
    assert report["findings"]
    for finding in report["findings"]:
        played = play(desk, target, finding["moves"])
        last = played["places"][-1]
        assert last["cost"] == finding["cost"]
        # A hopeless state shows only when all buyers wait.
        if finding["name"] != "stuck forever":
            assert finding["name"] in last["found"]


def test_three_buyers_keep_their_names(desk: Desk) -> None:
    [finding, *_] = search(desk, "naive", 3)["findings"]
    played = play(desk, "naive", finding["moves"], 3)
    assert [one["name"] for one in played["places"][-1]["actors"]] == ["A", "B", "C"]
    assert played["wrong"]["name"] == "oversell"


def test_a_shorter_word_is_an_undo(desk: Desk) -> None:
    whole = play(desk, "lock:lease", "AApBBBA")
    for size in range(7):
        part = play(desk, "lock:lease", "AApBBBA"[:size])
        assert part["places"] == whole["places"][: size + 1]


def test_who_asks_in_vain_cannot_move_and_time_passes(desk: Desk) -> None:
    played = play(desk, "lock:lease", "AxA")
    [wait] = buyer(played, "B")["waits"]
    assert wait["vain"]
    assert wait["said"] == ["nil"]
    assert written(played) == {"t", "p", "lB", "gB", "xB", "f"}
    assert written(play(desk, "lock:lease", "AxAt")) >= {"B"}
    assert "t" not in written(play(desk, "lock:lease", "A")), "A has something to do"


def test_stuck_for_ever_is_said_when_nothing_helps(desk: Desk) -> None:
    played = play(desk, "lock:setnx", "AxA")
    assert played["places"][-1]["found"] == ["stuck forever"]
    assert not played["over"]
    assert "stuck forever" not in play(desk, "lock:lease", "AxA")["places"][-1]["found"]


@pytest.mark.parametrize(
    ("moves", "nth"), [("AAAAAAAA", 5), ("t", 1), ("C", 1), ("p", 1), ("f", 1), ("AxAA", 3)]
)
def test_a_move_that_cannot_be_made(desk: Desk, moves: str, nth: int) -> None:
    assert play(desk, "naive", moves)["impossible"] == nth


@pytest.mark.parametrize("moves", ["Z", "A B", "AA-", "a", "A" * (LONGEST + 1), "٣"])
def test_what_is_no_schedule(desk: Desk, moves: str) -> None:
    assert play(desk, "naive", moves)["impossible"] == 0


def test_moves_are_read_one_by_one() -> None:
    assert split("AlBxAp1tfA1") == ["A", "lB", "xA", "p1", "t", "f", "A1"]


def test_no_more_than_two_faults_of_a_kind(desk: Desk) -> None:
    played = play(desk, "watch", "lAlA")
    assert played["impossible"] == 2, "his connection broke: he was told so, and is at his end"
    three = play(desk, "naive", "xAxBxC", 3)
    assert three["impossible"] == 3


def test_a_full_board_is_begun_anew(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("badluck.game.board.MAX_STATES", 1_500)
    for moves in ("A", "AB", "ABC", "ABCAB", "ABBCCA"):
        assert "impossible" not in play(desk, "watch", moves, 3)


def test_a_full_board_is_in_nobodys_way(desk: Desk) -> None:
    def full() -> None:
        play(desk, "naive", "A")
        board = desk.boards["naive", 2]
        board.most = len(board.states)

    full()
    assert search(desk, "naive")["findings"]
    full()
    assert play(desk, "naive", "ABABABAB" + "A")["impossible"] == 9
