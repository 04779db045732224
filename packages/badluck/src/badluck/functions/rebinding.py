"""A function as an actor has it: of its own modules, and holding nothing that others hold, too."""

from __future__ import annotations

import dis
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from datetime import date, time, timedelta
from decimal import Decimal
from enum import Enum
from functools import partial
from pathlib import PurePath
from types import CellType, CodeType, FunctionType, ModuleType
from typing import Any
from uuid import UUID

from badluck.actor.actor import here
from badluck.actor.user_code_error import UserCodeError
from badluck.errors import BadCode
from badluck.functions.project_modules import Project

# What nobody can change.
CONSTANT = (
    *(type(None), bool, int, float, complex, str, bytes, range),
    *(Decimal, date, time, timedelta, UUID, PurePath, re.Pattern),
)
CONTAINERS = (list, dict, set, bytearray)
CHANGES = {"append", "extend", "insert", "remove", "pop", "popitem", "clear", "sort", "reverse"}
CHANGES |= {"add", "discard", "update", "setdefault", "difference_update", "intersection_update"}
PUTS = {"STORE_SUBSCR", "DELETE_SUBSCR", "COPY"}  # an item; += copies where it stands
INSTEAD = "each is a process of its own: let it make one, or keep it in Redis"
ELSE = "What each has for itself may stand in a module beside the test, with the code"


class Rebinder:
    """For one actor, whose code is running."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.made: dict[int, Any] = {}  # functions, by the id of the original

    def of(self, value: Any, holder: str) -> Any:
        """Raises UserCodeError for a shared value, with its `holder`: `pay has captured log`."""
        kind = type(value)
        if id(value) in self.project.instead:
            return self.project.instead[id(value)]
        if isinstance(value, Enum):
            return self.of(kind, holder)[value.name]
        if isinstance(value, CONSTANT):
            return value
        if kind in (tuple, frozenset):
            return kind(self.of(part, holder) for part in value)
        if isinstance(value, ModuleType):
            return self.project.module(value.__name__)
        if kind is partial:
            named = {
                name: self.of(part, f"{holder}, {name}") for name, part in value.keywords.items()
            }
            return partial(self.of(value.func, holder), *self.of(value.args, holder), **named)
        bound = getattr(value, "__self__", None)
        if hasattr(value, "__qualname__") and isinstance(bound, type | ModuleType | None):
            return self._named(value, holder)
        raise UserCodeError(
            f"{holder}: a {kind.__name__} that all actors would share; {_instead(value)}."
        )

    def _named(self, value: Any, holder: str) -> Any:
        """A function or a class, as the actor's own module has it."""
        original = self.project.original(value.__module__ or "")
        home = original or sys.modules.get(value.__module__ or "")
        if home is not None and _found(home, value.__qualname__) == value:
            anew = self.project.module(value.__module__) if original else home
            rebound = _found(anew, value.__qualname__)
            if rebound is None:
                text = "is not there when its module is imported"
                raise UserCodeError(
                    f"{holder}: {value.__qualname__} {text}; define it outside of any `if`."
                )
            return rebound
        if type(value) is FunctionType and (original or value.__closure__):
            return self.made.get(id(value)) or self._function(value)
        if original is None:
            return value  # a library's, that is installed
        text = f"a {type(value).__name__} that its module does not have under its name"
        raise UserCodeError(f"{holder}: {value.__qualname__}, {text}; {INSTEAD}.")

    def _function(self, value: FunctionType) -> FunctionType:
        """One that was made inside of another, or has no name."""
        home, who = value.__globals__["__name__"], value.__name__
        own = self.project.original(home) is not None
        names = vars(self.project.module(home)) if own else value.__globals__
        captured = value.__closure__ or ()
        cells = tuple(CellType() for _ in captured)
        made = self.made[id(value)] = FunctionType(value.__code__, names, who, None, cells)
        made.__defaults__ = self.of(value.__defaults__, f"{who} has a default")
        made.__kwdefaults__ = {
            name: self.of(default, f"{who} has {name} by default")
            for name, default in (value.__kwdefaults__ or {}).items()
        }
        for name, cell, old in zip(value.__code__.co_freevars, cells, captured, strict=True):
            cell.cell_contents = self.of(old.cell_contents, f"{who} has captured {name}")
        return made


def _instead(value: Any) -> str:
    """Of an object, or one's method, how an actor makes its own."""
    of = getattr(value, "__self__", value)
    if not callable(value):
        return INSTEAD
    call = f"{type(of).__name__}(…)" + (f".{value.__name__}" if of is not value else "")
    return f"each is a process of its own: let it make one, `def actor(redis): {call}(redis)`"


def _found(module: ModuleType, path: str) -> Any:
    value: Any = module
    for name in path.split("."):
        value = getattr(value, name, None)
    return value


def containers(function: Callable[..., object], names: dict[str, Any]) -> Iterator[str]:
    """The lists, dicts … of the test's module that it reads; raises BadCode if it changes one.

    `names` are that module's. What is judged, is judged there; what an actor changes, it changes
    in a module of its own, and nobody would ever know.
    """
    todo, visited = [function], set[int]()
    while todo:
        reached: Any = todo.pop()
        if id(reached) in visited or getattr(reached, "__globals__", None) is not names:
            continue
        visited.add(id(reached))
        for name, sets, changes in _globals(reached.__code__):
            value = names.get(name)
            if sets or (changes and isinstance(value, CONTAINERS)):
                what = f"of the test's own module ({type(value).__name__})"
                raise BadCode(f"{reached.__name__} changes {name} {what}; {INSTEAD}. {ELSE}.")
            if isinstance(value, CONTAINERS):
                yield name
            todo.append(value)


def refuse_changed(project: Project, module: str, names: Sequence[str]) -> None:
    """Raises UserCodeError if the test's module has changed one of these since it was imported."""
    original, anew = project.original(module), here().actor.modules.get(module)
    for name in names if original and anew else ():
        original_value, other = (vars(each).get(name) for each in (original, anew) if each)
        if not _alike(original_value, other):
            text = f"{module}.{name} has changed since its module was imported, and an actor"
            raise UserCodeError(f"{text} imports it anew: fill it where it stands.")


def _alike(one: Any, other: Any) -> bool:
    """Of what cannot be compared, as its classes are imported anew, only how many there are."""
    if type(one) is not type(other) or len(one) != len(other):
        return False
    if isinstance(one, dict):
        return one.keys() == other.keys() or not all(isinstance(key, CONSTANT) for key in one)
    return one == other or not all(isinstance(each, CONSTANT) for each in one)


def _globals(code: CodeType) -> Iterator[tuple[str, bool, bool]]:
    """The names that it uses, also in functions inside of it; does it set them, or what is in them?

    What is passed on, who is given it may change: that is not seen.
    """
    steps = [step for step in dis.get_instructions(code) if step.opname != "CACHE"]
    names = [(step.opname, step.argval) for step in steps] + [("", None)] * 2
    for (what, name), (_, method), (then, _) in zip(names, names[1:], names[2:], strict=False):
        if what in ("LOAD_GLOBAL", "STORE_GLOBAL"):  # the global, a key, and then to be put there
            yield name, what == "STORE_GLOBAL", method in CHANGES or then in PUTS
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from _globals(inner)
