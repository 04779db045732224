"""The words in the drawings: each is translated, and each translation is used."""

from __future__ import annotations

import re

import pytest

from app.lab import sources as reading
from app.lab.sources.timelines import narrated, notes
from app.server.language import LANGUAGES
from tests.translations import catalogue

PAGES = {name: reading.timelines.drawn(name).timelines for name in reading.ways()}
DRAWINGS = [timeline.text for timelines in PAGES.values() for timeline in timelines]
STORIES = [one.text for name in PAGES if ":" in name for one in PAGES[name]]


@pytest.mark.parametrize("language", list(LANGUAGES)[1:])
def test_every_word_of_every_drawing_is_said(language: str) -> None:
    known = catalogue(language)
    unsaid = {note for text in DRAWINGS for note in notes(text) if note not in known}
    assert unsaid == set(), "new words: run make translations, then translate them"


def test_a_line_that_is_no_command_has_its_words() -> None:
    lines = [line for text in STORIES for line in text.splitlines()[1:]]
    assert [line for line in lines if not re.match(r" ?\d", line) and not notes(line)] == []


def test_commands_and_values_are_no_words() -> None:
    assert notes(" 1  A  create lock (ephemeral, sequential) -> (nil)  A B") == []
    assert notes("13 XADD sales * sale (a) -> [OK, 1-1], WHICH IS LOST") == ["WHICH IS LOST"]


def test_each_is_said_once_and_in_order() -> None:
    drawing = """ #  buyer A    buyer B  stock
        |          (waits)  1
        |          (waits)  1
        ~~ B's process continues ~~  1
     1  |          GET stock -> (nil)  1"""
    assert [told for told, _ in narrated(drawing)] == [
        "buyer",
        "stock",
        "waits",
        "B's process continues",
    ]
