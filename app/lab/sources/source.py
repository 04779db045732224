"""The files of a mode or a recipe. Only files that the catalogue names are ever read."""

from __future__ import annotations

import inspect
import os
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import fairlock

import app
from app.lab.sources.highlight import Line, highlight
from app.modes import Way
from app.modes.lock import Lock
from app.store import lua

TOP = Path(inspect.getfile(app)).parents[1]
SCRIPTS = Path(inspect.getfile(lua)).parent
LIBRARY = Path(inspect.getfile(fairlock)).parent
# Where a mode sells, and where a recipe tries to take its lock.
STARTS = re.compile(r" +def (sell|attempt)\(")


@dataclass(frozen=True)
class File:
    """One file, or a part of it. `path` is in the project; `lines` begin with number `first`."""

    path: str
    lines: list[Line]
    first: int = 1

    @property
    def text(self) -> list[str]:
        return ["".join(piece.text for piece in line) for line in self.lines]


@cache
def files(target: str) -> list[File]:
    """Return the target's own files, then its scripts; for a mode also the common reads.

    For a recipe over fairlock, the library's files, too.
    """
    selling = Way.of(target)
    own = Path(inspect.getfile(selling.kind))
    text = own.read_text()
    sent = dict.fromkeys(re.findall(r'lua\.source\("(\w+)"\)', text))
    paths = [own, *(SCRIPTS / f"{name}.lua" for name in sent)]
    if own.parent.name == "modes":
        shared = "sql/sales" if selling.in_database else "round_sales"
        paths.append(SCRIPTS.parent / f"{shared}.py")
    if own.parent.name == "locks" and "from fairlock import" in text:
        contents = (LIBRARY / "__init__.py").read_text()  # lists its files in order
        paths += [LIBRARY / name for name in re.findall(r"^(\w+\.py) ", contents, re.MULTILINE)]
        paths += sorted((LIBRARY / "lua").glob("*.lua"))
    return [_file(path) for path in paths]


@cache
def section() -> File:
    """Return the part that a recipe's lock guards: the critical section of mode `lock`."""
    lines, first = inspect.getsourcelines(Lock.critical_section)
    lock_file = _file(Path(inspect.getfile(Lock)))
    return File(lock_file.path, lock_file.lines[first - 1 : first - 1 + len(lines)], first)


def parted(file: File) -> tuple[File, File]:
    """Split a file: the part before the way's first statement, and the rest from its `def` on."""
    start = next(number for number, text in enumerate(file.text) if STARTS.match(text))
    return (
        File(file.path, file.lines[:start], file.first),
        File(file.path, file.lines[start:], file.first + start),
    )


def _file(path: Path) -> File:
    return File(os.path.relpath(path, TOP), highlight(path.read_text(), path.suffix))
