"""Modules that a test imports for what they do when they are imported: to fill a registry."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.util import resolve_name
from pathlib import Path

from badluck.functions.project import ours


@cache
def imported_for_their_effect(file: str | None, package: str) -> Sequence[str]:
    """Of the project's, those of whose names nothing in that file makes use."""
    if not ours(file):
        return ()
    tree = ast.parse(Path(str(file)).read_bytes())
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    used |= {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}  # fixtures
    found = dict.fromkeys(_unused(tree.body, package, used))
    return [name for name in found if ours(getattr(sys.modules.get(name), "__file__", None))]


def _unused(statements: Sequence[ast.stmt], package: str, used: set[str]) -> Iterator[str]:
    """By statements that run when the file is imported."""
    for one in statements:
        if isinstance(one, ast.Import):
            for name in one.names:
                if (name.asname or name.name.partition(".")[0]) not in used:
                    yield name.name
        elif isinstance(one, ast.ImportFrom):
            home = resolve_name("." * one.level + (one.module or ""), package)
            for name in one.names:
                if (name.asname or name.name) not in used:
                    yield from (home, f"{home}.{name.name}")
        elif isinstance(one, ast.If | ast.Try | ast.With):
            yield from _unused(one.body, package, used)
