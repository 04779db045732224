"""Sentences that are filled in: one for 1, another for all other numbers."""

from __future__ import annotations

from figures.remarks import BOUND, BUSY


def test_a_number_chooses_its_sentence() -> None:
    assert BUSY.say(mode="watch", num=1) == "watch: 1 time a buyer was sent away (BUSY)."
    assert BUSY.say(mode="watch", num=1200) == "watch: 1,200 times a buyer was sent away (BUSY)."


def test_a_sentence_without_a_number_is_but_one() -> None:
    assert BOUND.say(mode="atomic", repeats="1, 3").endswith(
        "in repeat 1, 3, so there is no ratio."
    )
