"""The module of the test that explores: its variables, and its imports without a use."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.util import resolve_name
from pathlib import Path
from types import FrameType
from typing import Any

from badluck.functions.project_modules import in_project

OURS = "badluck."  # modules


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
    """By statements that run when the file is imported."""
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
