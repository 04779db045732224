"""The module of the test that explores: its variables, and its unused imports."""

from __future__ import annotations

import ast
import dis
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from importlib.util import resolve_name
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

from badluck.actor.actor import here
from badluck.actor.user_code_error import UserCodeError
from badluck.errors import BadCode
from badluck.functions.project_modules import Project, in_project
from badluck.functions.rebinding import CONSTANT, INSTEAD

OURS = "badluck."  # modules
CONTAINERS = (list, dict, set, bytearray)
CHANGES = {"append", "extend", "insert", "remove", "pop", "popitem", "clear", "sort", "reverse"}
CHANGES |= {"add", "discard", "update", "setdefault", "difference_update", "intersection_update"}
PUTS = {"STORE_SUBSCR", "DELETE_SUBSCR", "COPY"}  # an item; += copies it in place
ELSE = "Put what each actor keeps for itself into a module next to the test, with the code"


def caller_variables() -> dict[str, Any]:
    """Return the variables of the module that called badluck, perhaps by way of our plugin."""
    frame: FrameType | None = sys._getframe(1)
    while frame and frame.f_globals["__name__"].startswith(OURS):
        frame = frame.f_back
    return frame.f_globals if frame else {}


@cache
def unused_imports(file: str | None, package: str) -> Sequence[str]:
    """Return the project's modules that the file imports and does not use: perhaps registries."""
    if not in_project(file):
        return ()
    tree = ast.parse(Path(str(file)).read_bytes())
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    used |= {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}  # fixtures
    modules = dict.fromkeys(_unused(tree.body, package, used))
    return [
        name for name in modules if in_project(getattr(sys.modules.get(name), "__file__", None))
    ]


def _unused(statements: Sequence[ast.stmt], package: str, used: set[str]) -> Iterator[str]:
    """Yield the unused imports of statements that run when the file is imported."""
    for statement in statements:
        if isinstance(statement, ast.Import):
            for name in statement.names:
                if (name.asname or name.name.partition(".")[0]) not in used:
                    yield name.name
        elif isinstance(statement, ast.ImportFrom):
            home = resolve_name("." * statement.level + (statement.module or ""), package)
            for name in statement.names:
                if (name.asname or name.name) not in used:
                    yield from (home, f"{home}.{name.name}")
        elif isinstance(statement, ast.If | ast.Try | ast.With):
            yield from _unused(statement.body, package, used)


def containers(function: Callable[..., object], names: dict[str, Any]) -> Iterator[str]:
    """The lists, dicts … of the test's module that it reads; raises BadCode if it changes one.

    `names` are that module's. The verdict uses that module, but an actor changes a copy of its own,
    so a change would never be noticed.
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
    original, reimported = project.original(module), here().actor.modules.get(module)
    for name in names if original and reimported else ():
        original_value, other = (vars(each).get(name) for each in (original, reimported) if each)
        if not _alike(original_value, other):
            text = f"{module}.{name} has changed since its module was imported, and an actor"
            raise UserCodeError(f"{text} imports the module again: fill it in the module itself.")


def _alike(one: Any, other: Any) -> bool:
    """Compare two containers; of values that cannot be compared, only their number."""
    if type(one) is not type(other) or len(one) != len(other):
        return False
    if isinstance(one, dict):
        return one.keys() == other.keys() or not all(isinstance(key, CONSTANT) for key in one)
    return one == other or not all(isinstance(each, CONSTANT) for each in one)


def _globals(code: CodeType) -> Iterator[tuple[str, bool, bool]]:
    """Yield the names that it uses, also in inner functions, with whether it sets or changes them.

    A value that is passed on may be changed by its receiver: that is not seen.
    """
    steps = [step for step in dis.get_instructions(code) if step.opname != "CACHE"]
    names = [(step.opname, step.argval) for step in steps] + [("", None)] * 2
    for (what, name), (_, method), (then, _) in zip(names, names[1:], names[2:], strict=False):
        if what in ("LOAD_GLOBAL", "STORE_GLOBAL"):  # the global, a key, and then the change
            yield name, what == "STORE_GLOBAL", method in CHANGES or then in PUTS
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from _globals(inner)
