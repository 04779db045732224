"""A lecture's plan: its parts, with the spoken text and the waits of each."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from tests.lecture.languages import Tongue

TEN = 600  # s
CLICK = 3  # s: find it with the mouse, press, and look up again


@dataclass
class Wait:
    """A wait as the page announces it, and the speech during it, in s."""

    announced: float
    said: float = 0.0


@dataclass
class Part:
    """A part of the lecture; all times in s. An optional part has no beginning."""

    title: str
    begins: int | None
    has: int
    said: float = 0.0  # outside of waits
    paused: int = 0  # for the class
    clicks: int = 0
    waits: list[Wait] = field(default_factory=list)

    @property
    def speech(self) -> float:
        return self.said + sum(wait.said for wait in self.waits)

    def takes(self, measured: Sequence[float] = ()) -> float:
        """Return the part's duration, with measured or announced waits; speech may be longer."""
        waits = measured or [wait.announced for wait in self.waits]
        told = zip(waits, self.waits, strict=True)
        waiting = sum(max(seconds, wait.said) for seconds, wait in told)
        return self.said + self.paused + self.clicks * CLICK + waiting


def parts(tongue: Tongue) -> list[Part]:
    """Read the page's parts. A part with a time ends where the next one begins."""
    text = tongue.file.read_text()
    pieces = re.split(r"^## (.+)\n", text, flags=re.MULTILINE)[1:]
    found: list[Part] = []
    heading = re.compile(rf"({tongue.optional}[,，] ?)?(\d+):(\d\d) – (.+)")
    for title, body in zip(pieces[::2], pieces[1::2], strict=True):
        if told := heading.fullmatch(title):
            seconds = 60 * int(told[2]) + int(told[3])
            begins, has = (None, seconds) if told[1] else (seconds, 0)
            found.append(_read(tongue, Part(told[4], begins, has), body))
    fixed = [part for part in found if part.begins is not None]
    starts = [part.begins or 0 for part in fixed]
    for part, (begins, ends) in zip(fixed, pairwise([*starts, TEN]), strict=True):
        part.has = ends - begins
    return found


def _read(tongue: Tongue, part: Part, body: str) -> Part:
    """Read a part's body. Speech after `meanwhile` fills the wait before it."""
    told = re.compile(rf"{tongue.said}|{tongue.wait}|{tongue.pause}|\*\*([^*]+)\*\*")
    into: Wait | None = None
    for said, wait, pause, deed in told.findall(body):
        if said:
            seconds = 60 * tongue.length(said) / tongue.pace
            if into:
                into.said += seconds
            else:
                part.said += seconds
        elif wait:
            part.waits.append(Wait(int(wait)))
        elif pause:
            part.paused += int(pause)
        else:
            into = part.waits[-1] if deed.lower() == tongue.meanwhile else None
            part.clicks += deed.lower() in tongue.clicks
    return part
