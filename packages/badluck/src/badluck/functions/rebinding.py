"""A function for one actor: with the actor's own modules, and without values that others share."""

from __future__ import annotations

import re
import sys
from datetime import date, time, timedelta
from decimal import Decimal
from enum import Enum
from functools import partial
from pathlib import PurePath
from types import CellType, FunctionType, ModuleType
from typing import Any
from uuid import UUID

from badluck.actor.user_code_error import UserCodeError
from badluck.functions.project_modules import Project

# Immutable types.
CONSTANT = (
    *(type(None), bool, int, float, complex, str, bytes, range),
    *(Decimal, date, time, timedelta, UUID, PurePath, re.Pattern),
)
INSTEAD = "each is a process of its own: let it make one, or keep it in Redis"


class Rebinder:
    """Rebind functions for the actor whose code is running."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.made: dict[int, Any] = {}  # functions, by the id of the original

    def of(self, value: Any, holder: str) -> Any:
        """Rebind a value. Raises UserCodeError for a shared one, with its `holder`: `pay has
        captured log`.
        """
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
        """Return the function or class of the actor's own module."""
        original = self.project.original(value.__module__ or "")
        home = original or sys.modules.get(value.__module__ or "")
        if home is not None and _found(home, value.__qualname__) == value:
            module = self.project.module(value.__module__) if original else home
            rebound = _found(module, value.__qualname__)
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
        """Rebind a function that was made inside of another, or has no name."""
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
    """Advise how an actor makes an object of its own."""
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
