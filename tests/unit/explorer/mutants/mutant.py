"""A mutant: the project's own code with one thing broken, put in the place of the real code.

The text is replaced in the real source: a text that does not occur, or occurs twice, is an error.
No module is imported again. During one exploration the existing functions have the broken code,
and the readers of scripts get the broken text.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any, NamedTuple
from unittest import mock

from badluck.explorer import Explorer
from badluck.faults import Faults
from badluck.report.report import Report
from fairlock import scripts as fairlock

import app
from app.explorer import vocabulary
from app.explorer.targets import Target
from app.store import lua

ROOT = Path(app.__file__).parent
LIBRARIES = ROOT.parent / "packages"


class Budget(NamedTuple):
    """The input of an exploration: a way of selling, a number of buyers, and faults."""

    target: Target
    faults: Faults = Faults()
    buyers: int = 2
    most: int = 30_000  # states


class Mutant(NamedTuple):
    """`new` replaces `old`, which `file` contains once; the explorer must find `finding`."""

    name: str
    file: str  # below app/, or of fairlock
    old: str
    new: str
    budget: Budget
    finding: str


def explored(budget: Budget) -> Report:
    return Explorer(budget.target, budget.buyers).explore(budget.faults, budget.most)


def wrong(report: Report) -> set[str]:
    """Return the names of the findings."""
    return {finding.name for finding in report.findings}


@contextmanager
def planted(mutant: Mutant) -> Iterator[None]:
    library = mutant.file.startswith("fairlock/")
    path = (LIBRARIES / "fairlock/src" if library else ROOT) / mutant.file
    source = path.read_text(encoding="utf-8")
    if (times := source.count(mutant.old)) != 1:
        raise ValueError(
            f"{mutant.name}: the replaced text occurs {times} times in {mutant.file}, not once. "
            "The source has changed: adapt the mutant."
        )
    text = source.replace(mutant.old, mutant.new)
    name = mutant.file.rpartition(".")[0]
    with _script(name, text) if path.suffix == ".lua" else _module(name, text):
        yield


@contextmanager
def _script(name: str, text: str) -> Iterator[None]:
    reader: Any = fairlock if name.startswith("fairlock/") else lua
    source, name = reader.source, name.rpartition("/")[2]
    with mock.patch.object(reader, "source", lambda of: text if of == name else source(of)):
        _forget_scripts()
        yield
    _forget_scripts()


def _forget_scripts() -> None:
    vocabulary.script_names.cache_clear()
    for script in (fairlock.ACQUIRE, fairlock.TAKE, fairlock.RELEASE, fairlock.LEAVE):
        for known in ("text", "sha"):
            vars(script).pop(known, None)


@contextmanager
def _module(name: str, text: str) -> Iterator[None]:
    package = "" if name.startswith("fairlock/") else "app."
    module = import_module(f"{package}{name.replace('/', '.')}")
    broken = {code.co_qualname: code for code in _codes(compile(text, name, "exec"))}
    functions = list(_functions(vars(module), module.__name__))
    whole = [(function, function.__code__) for function in functions]
    try:
        for function, code in whole:
            function.__code__ = broken.get(function.__qualname__, code)
        yield
    finally:
        for function, code in whole:
            function.__code__ = code


def _codes(code: CodeType) -> Iterator[CodeType]:
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield constant
            yield from _codes(constant)


def _functions(names: Mapping[str, Any], module: str) -> Iterator[FunctionType]:
    """Yield the functions of a module and of its classes, with those of properties."""
    for value in names.values():
        function = getattr(value, "fget", value)
        if getattr(function, "__module__", "") != module:
            continue
        if isinstance(function, FunctionType):
            yield function
        elif isinstance(function, type):
            yield from _functions(vars(function), module)
