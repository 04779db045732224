"""What in somebody's own code is no bad luck, and may be why something is found."""

from __future__ import annotations

from collections.abc import Iterator

from badluck.actor import code_warnings
from badluck.actor.request import RAISED, Failed
from badluck.actor.user_code_error import line_of
from badluck.findings.exception_rule import Mistake
from badluck.findings.misspelt import misspelt
from badluck.search.automaton import Automaton
from badluck.search.graph import Graph
from badluck.search.paths import Path
from badluck.target import Target

BYTES = {  # what Python says, and what that comes to
    "str() on a bytes instance": "str() of bytes is not their text: decode() is",
    "Comparison between bytes and string": "bytes are compared with a text, and are never equal",
}


def causes(graph: Graph, target: Target) -> Iterator[str]:
    """A sentence each, with its line."""
    code = target.code
    if code.shown:
        return
    for (path, line), warning in code_warnings.SEEN.items():
        if code.files.own(path):
            text = f'{BYTES.get(warning, warning)}. Replies are bytes: b"0".'
            if code_warnings.FORGOTTEN in warning:
                text = f"{warning}, and does nothing."
            yield f"{line_of(path, line)}: {text}"
    yield from misspelt(graph, code.keys)


def errors(graph: Graph, path: Path) -> Iterator[str]:
    """Of those who are told ERROR at its end: what it was that their code does not catch."""
    last = graph.states[path.ways[-1][1].to if path.ways else 0]
    for actor, node in graph.alive(last):
        if isinstance(ended := node.requests[0], Failed):
            yield f"{graph.automata[actor].name} is told ERROR: {ended.error}"


def never_well(graph: Graph) -> Iterator[str]:
    """Of those who are told ERROR in whatever order: what it was. All orders were looked at."""
    for automaton in graph.automata:
        if isinstance(automaton, Automaton):
            ends = [node.requests[0] for node in automaton.nodes if node.ended]
            if ends and all(isinstance(ended, Failed) for ended in ends):
                error = next(ended.error for ended in ends if isinstance(ended, Failed))
                yield f"{automaton.name} is told ERROR in every order: {error}"


def mistake(graph: Graph, target: Target, paths: dict[str, Path]) -> str:
    """What was raised where nobody else had done anything; "" where that is not the case."""
    for rule in target.rules:
        path = paths.get(rule.name) if isinstance(rule, Mistake) else None
        if path and not path.cost.faults and len({way.actor for _, way in path.ways} - {-1}) < 2:
            last = graph.states[path.ways[-1][1].to if path.ways else 0]
            raised = (node.told for _, node in graph.alive(last) if node.told.startswith(RAISED))
            return next(raised).removeprefix(RAISED)
    return ""
