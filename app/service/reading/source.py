"""The files that make a mode or a recipe. Only what the catalogue names is ever read."""

from __future__ import annotations

import inspect
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import app
from app.locks import LOCKS
from app.modes import MODES
from app.modes.lock import Lock
from app.service.reading.highlight import Line, highlight
from app.store import lua

TOP = Path(inspect.getfile(app)).parents[1]
SCRIPTS = Path(inspect.getfile(lua)).parent


@dataclass(frozen=True)
class File:
    """`path` as it stands in the project; `lines` begin with number `first`."""

    path: str
    lines: list[Line]
    first: int = 1

    @property
    def name(self) -> str:
        return self.path.rpartition("/")[2]

    @property
    def text(self) -> list[str]:
        return ["".join(piece.text for piece in line) for line in self.lines]


@cache
def files(target: str) -> list[File]:
    """Its own first, then the other files of its package, then the scripts that they send."""
    own = Path(inspect.getfile(_kind(target)))
    beside = []
    if own.parent.name in LOCKS:  # a recipe that is a package: its __init__.py lists it in order
        contents = (own.parent / "__init__.py").read_text()
        beside = [own.parent / name for name in re.findall(r"^(\w+\.py) ", contents, re.MULTILINE)]
    python = list(dict.fromkeys([own, *beside]))
    sent = [
        name
        for file in python
        for name in re.findall(r'lua\.source\("([\w/]+)"\)', file.read_text())
    ]
    scripts = [SCRIPTS / f"{name}.lua" for name in dict.fromkeys(sent)]
    if beside:
        scripts += sorted((SCRIPTS / own.parent.name).glob("*.lua"))
    return [_file(path) for path in dict.fromkeys([*python, *scripts])]


@cache
def section() -> File:
    """What a recipe's lock guards: the critical section of mode `lock`."""
    lines, first = inspect.getsourcelines(Lock.critical_section)
    whole = _file(Path(inspect.getfile(Lock)))
    return File(whole.path, whole.lines[first - 1 : first - 1 + len(lines)], first)


def _file(path: Path) -> File:
    return File(path.relative_to(TOP).as_posix(), highlight(path.read_text(), path.suffix))


def _kind(target: str) -> type:
    mode, _, recipe = target.partition(":")
    return LOCKS[recipe] if recipe else MODES[mode]
