"""The source of a mode or a recipe, as it runs here."""

from __future__ import annotations

import ast
import inspect
import sys
from functools import lru_cache
from typing import NamedTuple

from app.modes import Way
from app.service import catalogue
from app.service.catalogue import Entry


def source(module: str) -> str:
    """Of a module of app.modes, app.locks or fairlock that is loaded."""
    return inspect.getsource(sys.modules[module])


class Function(NamedTuple):
    """Where one stands in its module; the first line is 1."""

    name: str
    first: int
    last: int
    indent: int  # of its first line


@lru_cache(200)  # somebody's own file may be another each time
def functions(text: str) -> tuple[Function, ...]:
    """All of a source and of its classes, as they come."""
    plain = (ast.FunctionDef, ast.AsyncFunctionDef)
    found: list[ast.FunctionDef | ast.AsyncFunctionDef] = []
    for node in ast.parse(text).body:
        inner = node.body if isinstance(node, ast.ClassDef) else [node]
        found += [each for each in inner if isinstance(each, plain)]
    return tuple(
        Function(node.name, node.lineno, node.end_lineno or node.lineno, node.col_offset)
        for node in found
    )


def module_of(mode: str) -> str:
    """The mode's own, of `mode` or `mode:recipe`."""
    return Way.of(mode).mode.__module__


def promises(mode: str) -> list[Entry]:
    """What the mode says of itself, and its recipe."""
    way = Way.of(mode)
    entries = [entry for entry in catalogue.modes() if entry.name == way.mode.name]
    recipe = way.recipe and way.recipe.name
    return entries + [entry for entry in catalogue.recipes() if entry.name == recipe]
