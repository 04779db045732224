"""A finding as a script of its own, for the library's maintainers: no badluck, a real server."""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Iterator, Sequence
from importlib.metadata import version
from pathlib import Path
from string import Template
from types import ModuleType
from typing import Any

from badluck.functions.signature import Function, count_arguments
from badluck.report.trace import Step
from badluck.search.names import LETTERS

from matrix import inside
from matrix.entry import MatrixEntry

TEMPLATE = Path(__file__).with_name("by_hand.py.txt")
LONGER = 15  # s: longer than the leases of the entries, 10 s
ALONE = ("looks at the clock", "has slept")
Turn = tuple[str | float, str]


def script(entry: MatrixEntry, steps: Sequence[Step], file: str) -> str:
    """Return a script whose threads act like the actors, in the order of the schedule."""
    functions = [
        function
        for function in (*entry.actors, entry.setup, entry.invariant, entry.at_end)
        if function
    ]
    module = sys.modules[entry.actors[0].__module__]
    rule = entry.invariant or entry.at_end
    pairs = (
        f'"{name}": {_called(actor, name)}'
        for name, actor in zip(LETTERS, entry.actors, strict=False)
    )
    about = f"{entry.library} {version(entry.library)}: {entry.what}\n\n{entry.why}"
    judged = f" or not {rule.__name__}({_arguments(rule)})" if rule else ""
    template = TEMPLATE.read_text(encoding="utf-8")
    return Template(template).substitute(
        about=about.replace("\\", "\\\\"),
        library=entry.library,
        version=version(entry.library),
        redis=version("redis"),
        file=file,
        code=_code(module, {function.__name__ for function in functions}, template.splitlines()),
        order="[\n    " + ",\n    ".join(map(repr, _turns(steps))) + ",\n]",
        work=", ".join(pairs),
        longer=LONGER,
        setup=f"{entry.setup.__name__}(plain)\n" if entry.setup else "",
        wrong=f"bool(waits){judged}",
    )


def _called(actor: Any, name: str) -> str:
    return (
        actor.__name__
        if count_arguments(actor) == 1
        else f'lambda redis: {actor.__name__}(redis, "{name}")'
    )


def _arguments(rule: Function) -> str:
    return "plain" if count_arguments(rule) == 1 else "plain, answers"


def _turns(steps: Sequence[Step]) -> Iterator[Turn]:
    """Yield the turns of actors. A message without a request is no turn: a thread waits for it.

    Steps without the server are no turns either.
    """
    before = 0
    for step in steps:
        if step.does in ("time", "pause"):
            yield (step.at - before) / 1000 + 0.1, "wait"
        elif not step.lines or not step.lines[0].startswith(("hears", *ALONE)):
            yield step.actor, "sends" if step.does == "goes" else step.does
        before = step.at


def _code(module: ModuleType, wanted: set[str], known: Sequence[str]) -> str:
    """Return what those functions need of module and inside.py, except `known` lines."""
    parts: list[tuple[set[str], ast.stmt, str]] = []
    for source in (inspect.getsource(module), inspect.getsource(inside)):
        for node in ast.parse(source).body:
            text = ast.get_source_segment(source, node) or ""
            own = isinstance(node, ast.ImportFrom) and (node.module or "").startswith("matrix")
            if not own and text not in known:
                parts.append((_names(node), node, text))
    needed, before = set(wanted), set[str]()
    while needed != before:
        before = set(needed)
        for names, node, _ in parts:
            if names & needed:
                needed |= {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
    taken = [(node, text) for names, node, text in parts if names & needed]
    imports = [text for node, text in taken if isinstance(node, ast.Import | ast.ImportFrom)]
    others = [text for node, text in taken if not isinstance(node, ast.Import | ast.ImportFrom)]
    return (
        "\n".join(imports)
        + "\n\n\n"
        + "\n\n\n".join(others).replace(": Any", "").replace(": dict[str, Any]", "")
    )


def _names(node: ast.stmt) -> set[str]:
    """Return the names that a statement defines."""
    match node:
        case ast.Import(names) | ast.ImportFrom(_, names):
            return {(name_node.asname or name_node.name).split(".")[0] for name_node in names}
        case ast.FunctionDef(name) | ast.ClassDef(name):
            return {name}
        case ast.Assign(targets):
            return {name_node.id for name_node in targets if isinstance(name_node, ast.Name)}
    return set()
