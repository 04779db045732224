"""The words in the drawings: none is left unsaid, and none is said that is not there."""

from __future__ import annotations

from app.service import reading
from app.service.reading.narrated import CODE, NOTES, SAID, narrated

DRAWINGS = [
    timeline.text for name in reading.ways() for timeline in reading.timelines.drawn(name).timelines
]


def test_every_word_of_every_drawing_is_said() -> None:
    notes = {"".join(found) for text in DRAWINGS for found in NOTES.findall(text)}
    assert notes - CODE == SAID.keys()


def test_each_is_said_once_and_in_order() -> None:
    drawing = """ #  buyer A    buyer B  stock
        |          (waits)  1
        |          (waits)  1
        ~~ B's process goes on ~~  1
     1  |          GET stock -> (nil)  1"""
    assert [told for told, _ in narrated(drawing)] == [
        "buyer",
        "stock",
        "waits",
        "B's process goes on",
    ]
