"""A history is read as it was written, line by line."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from loadtest.chaos import history
from loadtest.chaos.history import (
    Action,
    Book,
    BookEntry,
    Event,
    InjectedFault,
    Kind,
    Part,
    Recorder,
    Reply,
    Request,
    Response,
    RoundAudit,
    RoundEnded,
    RoundStarted,
    RunStarted,
)

EVENTS: list[Event] = [
    RunStarted(7, 1.0, "safe", "sqlite", late=60),
    RoundStarted(10, 20, "apple", 3, 50, "atomic", hold=2000, limit=4),
    Request(1, 30, Action.BUY, "b1", "apple", key="k", units=2, cookie="0f1e"),
    Response(1, 41, Reply.SOLD, round=3, order="0198", left=48),
    InjectedFault(Kind.KILL, Part.WORKER, 35, 90, hit=(1,)),
    RoundEnded(95, "apple", 3, 99),
    BookEntry(Book.DATABASE, "0198", "apple", 3, 2, "k"),
    RoundAudit(200, "apple", 3, 50, 48, 0, 2, settled=False),
    RoundAudit(300, "apple", 3, 50, 48, 0, 2, found_left=48, found_held=0, marked=True),
]


def test_every_kind_of_event_is_written_and_read_again(tmp_path: Path) -> None:
    with Recorder(tmp_path / "history") as recorder:
        for event in EVENTS:
            recorder.note(event)
    with (tmp_path / "history").open("rb") as lines:
        assert history.read(lines) == EVENTS


def test_the_lines_that_explain_the_format_are_of_the_format() -> None:
    lines = re.findall(r"^    ({.*})$", history.__doc__ or "", re.MULTILINE)
    assert {type(history.decode(line)) for line in lines} == set(history.EVENTS.values())


def test_a_line_that_a_killed_harness_left_says_nothing() -> None:
    whole = history.encode(EVENTS[0])
    assert history.read([whole, whole[:-9]]) == [EVENTS[0]]


@pytest.mark.parametrize(
    "line", [b"", b"[]", b"{}", b'{"event":"told"}', b'{"event":"sold"}', b'{"event":"run","x":1}']
)
def test_what_is_no_event_is_refused_by_name(line: bytes) -> None:
    with pytest.raises(ValueError, match="no event of a history"):
        history.decode(line)


def test_an_unknown_word_is_refused() -> None:
    with pytest.raises(ValueError, match="MAYBE"):
        history.decode(b'{"event":"told","op":1,"at":2,"answer":"MAYBE"}')
