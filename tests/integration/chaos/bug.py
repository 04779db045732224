"""A bug that chaos must find: a change of a line or two, where a developer might make a mistake.

The replaced text must be in its file exactly once. So a bug whose place has moved is not planted
any more, and a test says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[3]


@dataclass(frozen=True)
class Change:
    """A change of a file in app/: the old text, the new one."""

    file: str
    old: str
    new: str


@dataclass(frozen=True)
class Bug:
    """`modes` are those that it is planted in; `seeds` are tried one after the other."""

    name: str
    modes: str
    changes: Sequence[Change]
    seeds: Sequence[int] = (1, 2, 3)
    options: Sequence[str] = ()  # more of the command line


def plant(bug: Bug, app: Path) -> None:
    """Change the copy of app/. Raises ValueError where a text is not there exactly once."""
    for change in bug.changes:
        file = app / change.file
        text = file.read_text()
        if text.count(change.old) != 1:
            raise ValueError(f"{change.file} has {text.count(change.old)} of {change.old!r}")
        file.write_text(text.replace(change.old, change.new))
