"""A schedule in sentences: each step has one that describes it."""

from __future__ import annotations

import pytest
from badluck.game.play import play

from app.explorer.desk import Desk
from app.explorer.targets import explorable
from app.lab.sources.sentences import retold
from tests.unit.explorer.random_walks import walks


@pytest.fixture(scope="module")
def desk() -> Desk:
    return Desk()


def told(desk: Desk, target: str, moves: str) -> list[str]:
    played = desk.answer({"do": "play", "target": target, "buyers": 2, "moves": moves})
    return [str(text) for text in retold(played["places"])]


def test_a_lost_update(desk: Desk) -> None:
    assert told(desk, "naive", "ABBBAAA") == [
        "A reads the stock: 1.",
        "B reads the stock: 1.",
        "B writes 0.",
        "B records its sale.",
        "A writes 0, as if B had not been there.",
        "A records its sale.",
        "A notes under its key that it has bought.",
    ]


def test_a_race_that_is_lost(desk: Desk) -> None:
    sentences = told(desk, "watch", "AABBBA")
    assert sentences[0] == "A begins to watch the stock."
    assert sentences[4] == "B writes 0 and records its sale, in one step."
    assert sentences[5].startswith("A’s EXEC aborts")


def test_a_lease_that_ends(desk: Desk) -> None:
    assert told(desk, "lock:lease", "AApBBBA") == [
        "A takes the lock.",
        "A reads the stock: 1.",
        "All buyers pause for 10.0 s. Meanwhile the lock runs out.",
        "B takes the lock.",
        "B reads the stock: 1.",
        "B writes 0 and records its sale, in one step.",
        "A writes 0 and records its sale, as if B had not been there.",
    ]
    assert told(desk, "lock:lease", "AxA") == [
        "A takes the lock.",
        "A crashes and never restarts. Its lock stays behind.",
    ]
    assert told(desk, "lock:unowned", "AAApBA")[-1] == "A removes the lock, which is B’s."
    assert told(desk, "lock:lease", "AAApBA")[-1] == (
        "A wants to release its lock, which is not its own any more."
    )


def test_faults(desk: Desk) -> None:
    assert told(desk, "atomic", "lA") == [
        "A reads, checks, writes 0 and records its sale, all in one step. The reply is lost."
    ]
    assert told(desk, "watch", "AAAf")[-1] == (
        "Another server takes over, and has not heard of the last write."
    )
    assert told(desk, "atomic", "gABaA") == [
        "A gives up on what it has sent; that is still under way.",
        "B reads, checks, writes 0 and records its sale, all in one step.",
        "Only now it arrives: A reads the stock: 0.",
    ]


def test_who_takes_first_gives_back(desk: Desk) -> None:
    sentences = told(desk, "decr", "AABBBAAA")
    assert sentences[0] == "A locks its own key, so that it buys but once."
    assert sentences[4] == "B takes a unit: the stock is 0."
    assert sentences[5] == "A takes a unit: the stock is -1."
    assert sentences[6] == "A gives its unit back: the stock is 0."


@pytest.mark.parametrize("target", explorable())
def test_every_step_has_a_sentence(target: str) -> None:
    """The sentence says more than that there was a step."""
    said: set[str] = set()
    for board, moves, _ in walks(target, 5):
        places = play(board, moves)["places"]
        for place, sentence in zip(places[1:], retold(places), strict=True):
            assert "continues." not in sentence, place["step"]
            said.add(sentence)
    assert len(said) > 5
