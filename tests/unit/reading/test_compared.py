"""Two files next to each other show difflib's result, and lose no character."""

from __future__ import annotations

import re
from difflib import ndiff
from itertools import product

import pytest

from app.lab import sources as reading
from app.lab.sources.highlight import Line, highlight
from app.lab.sources.page import compared
from app.lab.sources.source import TOP, File, files

PAIRS = list(product(["naive", "watch", "lock", "atomic", "lock:lease", "lock:queue"], repeat=2))
OPENED = list(product(reading.ways(), ["naive", "lock:lease"]))


def text(line: Line) -> str:
    return "".join(piece.text for piece in line)


def marked(line: Line) -> str:
    return "".join(piece.text for piece in line if piece.changed)


def of(source: str) -> File:
    return File("app/test.py", highlight(source, ".py"))


def parts(file: File) -> tuple[list[str], list[str]]:
    """Return its lines without indentation, before its `sell` or `attempt`, and from there on."""
    lines = [line.lstrip() for line in file.text]
    start = next(n for n, line in enumerate(lines) if line.startswith(("def sell", "def attempt")))
    return lines[:start], lines[start:]


@pytest.mark.parametrize(("left", "right"), OPENED)
def test_it_opens_where_both_begin_to_sell(left: str, right: str) -> None:
    first = reading.compare(left, right).selling[0]
    for side in (first.left, first.right):
        assert re.match(r" +def (sell|attempt)\(", text(side[0].line))


@pytest.mark.parametrize(("left", "right"), PAIRS)
def test_it_is_what_difflib_says(left: str, right: str) -> None:
    shown = reading.compare(left, right)
    one, other = (parts(file) for file in shown.files)
    said = [line for part in (0, 1) for line in ndiff(one[part], other[part])]
    found = {
        " ": [text(row.left[0].line).lstrip() for row in shown.rows if row.same],
        "-": [text(one.line).lstrip() for row in shown.rows if not row.same for one in row.left],
        "+": [text(one.line).lstrip() for row in shown.rows if not row.same for one in row.right],
    }
    for sign, lines in found.items():
        assert lines == [line[2:] for line in said if line[0] == sign]


@pytest.mark.parametrize(("left", "right"), PAIRS)
def test_every_line_of_both_stands_there_once_and_in_order(left: str, right: str) -> None:
    shown = reading.compare(left, right)
    sides = [
        [one for row in shown.rows for one in row.left],
        [one for row in shown.rows for one in row.right],
    ]
    for side, file in zip(sides, shown.files, strict=True):
        assert [one.number for one in side] == list(range(1, len(file.lines) + 1))
        assert [text(one.line) for one in side] == file.text
    assert shown.left_only == sum(len(row.left) for row in shown.rows if not row.same)
    assert shown.right_only == sum(len(row.right) for row in shown.rows if not row.same)


def test_the_words_that_changed_within_a_line_are_marked() -> None:
    before, after = (
        "self.store.set(self.keys.stock, left)\n",
        "    pipe.set(self.keys.stock, left)\n",
    )
    [row] = compared(of(before), of(after))
    assert not row.same
    assert (marked(row.left[0].line), marked(row.right[0].line)) == ("self.store", "pipe")


def test_indentation_is_no_difference() -> None:
    [row] = compared(of("return 1\n"), of("        return 1\n"))
    assert row.same


def test_lines_that_are_not_alike_stand_in_one_place_unmarked() -> None:
    [row] = compared(of("import redis\nBACKOFF = 1\n"), of("with zebra() as pipe:\n"))
    assert [one.number for one in row.left] == [1, 2]
    assert [one.number for one in row.right] == [1]
    assert not any(marked(one.line) for one in (*row.left, *row.right))


def test_a_pair_beside_lines_of_one_side() -> None:
    rows = compared(of("zebra()\nleft = 1 - quantity\n"), of("left = 2 - quantity\n"))
    assert [(len(row.left), len(row.right)) for row in rows] == [(1, 0), (1, 1)]
    assert marked(rows[1].left[0].line) == "1"


@pytest.mark.parametrize("target", reading.ways())
def test_colours_change_no_character(target: str) -> None:
    for file in files(target):
        assert "\n".join(file.text) + "\n" == (TOP / file.path).read_text()
        kinds = {piece.kind for line in file.lines for piece in line}
        assert "comment" in kinds or "doc" in kinds, "it is coloured"
