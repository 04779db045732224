"""The files that make a mode or a recipe. Only what the catalogue names is ever read."""

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
    """`path` as it stands in the project; `lines` begin with number `first`."""

    path: str
    lines: list[Line]
    first: int = 1

    @property
    def text(self) -> list[str]:
        return ["".join(piece.text for piece in line) for line in self.lines]


@cache
def files(target: str) -> list[File]:
    """Its own first, then the scripts that it sends; of a mode what all read and record.

    Of a recipe over fairlock also that.
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
    """What a recipe's lock guards: the critical section of mode `lock`."""
    lines, first = inspect.getsourcelines(Lock.critical_section)
    lock_file = _file(Path(inspect.getfile(Lock)))
    return File(lock_file.path, lock_file.lines[first - 1 : first - 1 + len(lines)], first)


def parted(file: File) -> tuple[File, File]:
    """What comes before a way's first statement, and the rest from its `def` on."""
    start = next(number for number, text in enumerate(file.text) if STARTS.match(text))
    return (
        File(file.path, file.lines[:start], file.first),
        File(file.path, file.lines[start:], file.first + start),
    )


def _file(path: Path) -> File:
    return File(os.path.relpath(path, TOP), highlight(path.read_text(), path.suffix))
