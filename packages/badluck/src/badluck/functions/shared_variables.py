"""Variables that actors change in their modules, and that an invariant reads.

Each actor imports the project's modules again, and an invariant uses those of the test. So a list
that actors fill is always empty for an invariant, which would *hold* forever.
"""

from __future__ import annotations

import dis
import sys
from collections.abc import (
    Callable,
    Iterator,
    MutableMapping,
    MutableSequence,
    MutableSet,
    Sequence,
)
from dataclasses import dataclass, field
from enum import Enum
from functools import partial
from types import CodeType, FunctionType, ModuleType
from typing import Any, NamedTuple

from badluck.errors import BadCode
from badluck.functions.project_modules import in_project
from badluck.functions.signature import function_name

CHANGING = (MutableSequence, MutableMapping, MutableSet)
SETS = ("STORE_GLOBAL", "STORE_ATTR", "DELETE_GLOBAL", "DELETE_ATTR")
GLOBALS = ("LOAD_GLOBAL", "LOAD_NAME", "STORE_GLOBAL", "DELETE_GLOBAL")
VariableKey = tuple[int, str]  # the id of a module's or a class's variables, and a name there


class Variable(NamedTuple):
    owner: str  # the name of its module or class
    name: str  # as it is called
    value: Any


@dataclass
class ReachableNames:
    """The project's variables that a function reads, also through functions that it names.

    An attribute stands for everything with its name, in any module or class that was reached.
    """

    places: dict[VariableKey, Variable] = field(default_factory=dict)
    sets: set[tuple[str, str]] = field(default_factory=set)  # a name, and one used with it
    names: set[str] = field(default_factory=set)  # of attributes
    owners: dict[int, tuple[Any, dict[str, Any]]] = field(default_factory=dict)

    def add(self, functions: Sequence[Any]) -> ReachableNames:
        todo, visited = list(functions), dict[int, Any]()
        while todo:
            while todo:
                reached = todo.pop()
                if id(reached) not in visited:
                    visited[id(reached)] = reached  # kept, so that its id is not reused
                    todo += self._references(reached)
            todo += [value for value in self._attributes() if id(value) not in visited]
        return self

    def _references(self, one: Any) -> Iterator[Any]:
        """Yield the values that it holds or names."""
        if isinstance(one, partial):
            yield from (one.func, *one.args, *one.keywords.values())
        elif isinstance(one, FunctionType):
            yield from (vars(one).get("__wrapped__"), *_captured(one))
            if in_project(one.__code__.co_filename):
                yield from self._named(one.__code__, one.__globals__)
        elif isinstance(one, property):
            yield from (one.fget, one.fset)
        elif isinstance(one, staticmethod | classmethod):
            yield one.__func__
        elif isinstance(one, ModuleType):
            if in_project(getattr(one, "__file__", None)):
                self.owners[id(vars(one))] = (one, vars(one))
        elif isinstance(one, type):
            if _of_project(one):
                self.owners[id(one)] = (one, dict(vars(one)))
                yield from (*vars(one).values(), *one.__bases__)
        elif method := getattr(one, "__func__", None):
            yield from (method, one.__self__)
        elif _of_project(type(one)):
            yield type(one)
        elif callable(one):  # as functools.cache leaves it
            yield getattr(one, "__dict__", {}).get("__wrapped__")

    def _named(self, code: CodeType, names: dict[str, Any]) -> Iterator[Any]:
        steps = [(step.opname, step.argval) for step in dis.get_instructions(code)]
        used = {str(name) for what, name in steps if what in GLOBALS}
        used |= {getattr(names.get(name), "__name__", name) for name in used}
        used |= {*code.co_varnames, *code.co_freevars, *code.co_cellvars, names["__name__"]}
        for what, name in steps:
            if what in SETS:
                self.sets |= {(name, other) for other in used}
            if what in GLOBALS and name in names:
                self.places[id(names), name] = Variable(names["__name__"], name, names[name])
                yield names[name]
            elif what == "IMPORT_NAME":
                yield from _imported(name, names.get("__package__") or "")
        self.names |= {name for name in code.co_names if not name.startswith("__")}
        for inner in code.co_consts:
            if isinstance(inner, CodeType):
                yield from self._named(inner, names)

    def _attributes(self) -> Iterator[Any]:
        for place, (owner, held) in self.owners.items():
            for name in self.names & held.keys():
                if (place, name) not in self.places:
                    self.places[place, name] = Variable(
                        owner.__name__, f"{owner.__name__}.{name}", held[name]
                    )
                    yield held[name]


def refuse_shared(actors: Sequence[Any], looks: Callable[..., object]) -> None:
    """Raises BadCode if `looks` reads what actors change, each in a module of its own."""
    theirs, mine = ReachableNames().add(actors), ReachableNames().add([looks])
    for place in sorted(theirs.places.keys() & mine.places.keys(), key=lambda one: one[1]):
        owner, name, value = mine.places[place]
        owners = (owner, owner.rpartition(".")[2], "cls")
        if _changing(value) or any((place[1], owner_name) in theirs.sets for owner_name in owners):
            what = f"a {type(value).__name__} that actors use, too"
            text = "each has one of its own, and this one stays as it is: keep it in Redis"
            raise BadCode(f"{function_name(looks)} reads {name}, {what}; {text}.")


def _changing(value: Any) -> bool:
    if isinstance(value, Enum | tuple | type):
        return False
    frozen = getattr(getattr(type(value), "__dataclass_params__", None), "frozen", False)
    return isinstance(value, CHANGING) or (_of_project(type(value)) and not frozen)


def _of_project(kind: type) -> bool:
    return in_project(getattr(sys.modules.get(kind.__module__), "__file__", None))


def _captured(function: FunctionType) -> Iterator[Any]:
    for cell in function.__closure__ or ():
        try:
            yield cell.cell_contents
        except ValueError:  # nothing is in it yet
            continue


def _imported(name: str, package: str) -> Iterator[Any]:
    """Yield the imported modules; the name may be relative. A dotted one yields all packages."""
    while True:
        full = f"{package}.{name}".strip(".")
        while full:
            yield sys.modules.get(full)
            full = full.rpartition(".")[0]
        if not package:
            return
        package = package.rpartition(".")[0]
