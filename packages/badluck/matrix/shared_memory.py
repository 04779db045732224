"""State that a library keeps in its modules from one process to the next.

badluck imports installed libraries once, for all actors. So an actor finds what the previous one
left in a library's modules, unlike a process of its own. We search for such state. A library that
keeps any, unless it is known to be harmless, is not judged.
"""

from __future__ import annotations

import sys
from contextlib import suppress
from importlib.metadata import distribution
from types import FunctionType, ModuleType
from typing import Any

from badluck.actor.user_code_error import UserCodeError
from badluck.functions.function_target import FunctionTarget
from badluck.functions.inline_server import InlineServer
from badluck.functions.signature import count_arguments

Memory = dict[str, object]


def kept(library: str, target: FunctionTarget) -> list[str]:
    """Return the names whose values change when two actors run one after the other."""
    with target.surroundings():
        store = InlineServer(target.files, target.servers)
        if target.prepare:
            target.prepare(store.given)
        before = _memory(library)
        for name, actor in zip("AB", target.actors, strict=False):
            _run(store, target, actor, name)
        after = _memory(library)
    return sorted(name for name, held in after.items() if before.get(name, held) != held)


def _run(store: InlineServer, target: FunctionTarget, actor: Any, name: str) -> None:
    names = [name] if count_arguments(actor) == 2 else []
    with suppress(UserCodeError):  # the actor waits for another: it has run up to there
        store.call(lambda: actor(store.given, *names))


def _memory(library: str) -> Memory:
    """Return identity and contents of each variable of its modules and classes."""
    memory: Memory = {}
    for module in _modules(library):
        for name, value in list(vars(module).items()):
            if name.startswith("__"):
                continue  # Python's own: which warnings it has given
            memory[f"{module.__name__}.{name}"] = _seen(value)
            if isinstance(value, type) and value.__module__ == module.__name__:
                for attribute, held in list(vars(value).items()):
                    memory[f"{module.__name__}.{name}.{attribute}"] = _seen(held)
    return memory


def _modules(library: str) -> list[ModuleType]:
    names = {
        str(file).split("/")[0].removesuffix(".py") for file in distribution(library).files or []
    }
    return [module for name, module in list(sys.modules.items()) if name.split(".")[0] in names]


def _seen(value: Any) -> object:
    if isinstance(value, dict | list | set):
        return (id(value), repr(value) if len(value) < 1000 else len(value))
    if isinstance(value, ModuleType | type | FunctionType) or not hasattr(value, "__dict__"):
        return id(value)
    return (id(value), sorted(vars(value)), [id(value_held) for value_held in vars(value).values()])
