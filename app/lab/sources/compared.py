"""Two files side by side: the lines that both have, and the changed words of a line."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher, ndiff
from typing import NamedTuple

from app.lab.sources.highlight import Line
from app.lab.sources.source import File

WORDS = re.compile(r"\w+|\s+|[^\w\s]")


class Numbered(NamedTuple):
    number: int  # from 1, in its file
    line: Line


@dataclass(frozen=True)
class LinePair:
    """Two lines next to each other: the same line, a changed one, or a line of one side alone."""

    left: tuple[Numbered, ...]
    right: tuple[Numbered, ...]
    same: bool = False


def compared(left: File, right: File) -> list[LinePair]:
    """Return every line of both files, in order."""
    rows: list[LinePair] = []
    before, after = enumerate(left.lines, left.first), enumerate(right.lines, right.first)
    # Lines of both sides in the same place, none of which is similar to another.
    gone: list[Numbered] = []
    come: list[Numbered] = []
    for sign in [*_signs(left.text, right.text), ""]:
        if sign == "-":
            gone.append(Numbered(*next(before)))
            continue
        if sign == "+":
            come.append(Numbered(*next(after)))
            continue
        if gone or come:
            rows.append(LinePair(tuple(gone), tuple(come)))
            gone, come = [], []
        if sign:
            pair = Numbered(*next(before)), Numbered(*next(after))
            rows.append(_changed(*pair) if sign == "~" else LinePair(pair[:1], pair[1:], same=True))
    return rows


def _signs(left: Sequence[str], right: Sequence[str]) -> str:
    """Return difflib.ndiff's signs: " " in both, "-" left, "+" right, "~" a line that has changed.

    ndiff writes a "?" line below one or both lines of a pair, to show where they differ; that is
    how it says that they are a pair. Indentation is no difference: the same steps are deeper in a
    loop, or in a `with`.
    """
    marks = "".join(line[0] for line in ndiff(_stripped(left), _stripped(right)))
    return re.sub(r"-\?\+\??|-\+\?", "~", marks)


def _stripped(lines: Sequence[str]) -> list[str]:
    return [line.lstrip() for line in lines]


def _changed(left: Numbered, right: Numbered) -> LinePair:
    before, after = _words(left), _words(right)
    matcher = SequenceMatcher(None, before, after, autojunk=False)
    gone, come = set[int](), set[int]()  # positions of characters
    for tag, i1, i2, j1, j2 in matcher.get_opcodes():
        if tag != "equal":
            gone |= _characters(before, i1, i2)
            come |= _characters(after, j1, j2)
    return LinePair(
        (left._replace(line=_marked(left.line, gone)),),
        (right._replace(line=_marked(right.line, come)),),
    )


def _words(numbered: Numbered) -> list[str]:
    return WORDS.findall("".join(piece.text for piece in numbered.line))


def _characters(words: Sequence[str], first: int, end: int) -> set[int]:
    """Return the positions of these words, without the indentation."""
    begin = len("".join(words[:first]))
    if first == 0 and words[:end] and words[0].isspace():
        begin = len(words[0])
    return set(range(begin, len("".join(words[:end]))))


def _marked(line: Line, positions: set[int]) -> Line:
    """Return the pieces of a line, cut where a change begins or ends."""
    cut, at = [], 0
    for piece in line:
        start = 0
        for end in range(1, len(piece.text) + 1):
            changed = at + start in positions
            if end == len(piece.text) or (at + end in positions) != changed:
                cut.append(piece._replace(text=piece.text[start:end], changed=changed))
                start = end
        at += len(piece.text)
    return tuple(cut)
