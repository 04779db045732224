"""Mistakes in a user's code that need no fault, and may cause a finding."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import product

from badluck.actor import code_warnings
from badluck.actor.request import RAISED, Failed, Send
from badluck.actor.user_code_error import line_of
from badluck.findings.exception_rule import Mistake
from badluck.model.channels import LISTENS
from badluck.model.values import Command
from badluck.search.automaton import Automaton
from badluck.search.graph import Graph
from badluck.search.paths import Path
from badluck.target import Target

BYTES = {  # Python's message, and its consequence
    "str() on a bytes instance": "str() of bytes is not their text: decode() is",
    "Comparison between bytes and string": "bytes are compared with a text, and are never equal",
}
SHORTEST = 4  # characters; most shorter names are one letter apart
MANY = {b"MGET", b"DEL", b"UNLINK", b"EXISTS", b"TOUCH", b"WATCH"}  # all their words are keys
NO_KEY = {b"EVAL", b"EVALSHA", b"SCRIPT", b"KEYS", b"SCAN", *LISTENS}
NO_KEY |= {b"PUBLISH", b"SPUBLISH", b"PUBSUB"}


def misspelt(graph: Graph, expected: Iterable[bytes]) -> Iterator[str]:
    """Yield a sentence for each, with the line that first names it; `expected` keys are right as
    well.
    """
    states = graph.servers.states
    known = {*expected, *dict(states[0][0].entries)}
    existing = {key for servers in states for key, _ in servers[0].entries}
    for key, where in _named(graph).items():
        for meant in known if key not in known else ():
            if key in existing and b":" in key and _kind(key) == _kind(meant):
                continue  # cart:ann and cart:anon both exist
            name, other = (each.decode("utf-8", "replace") for each in (key, meant))
            if _slip(name, other):
                what = "is another key than" if key in existing else "is never there, unlike"
                yield f"{where}: {name} {what} {other}; is that meant?"


def _named(graph: Graph) -> dict[bytes, str]:
    """Return the keys that own code names in a command, with the lines."""
    spot_by_key: dict[bytes, tuple[str, int]] = {}
    for automaton in graph.automata:
        for node in automaton.nodes if isinstance(automaton, Automaton) else ():
            for request, spots in zip(node.requests, node.stands, strict=False):
                for command in request.commands if isinstance(request, Send) else ():
                    for key, spot in product(_keys(command), spots):
                        spot_by_key.setdefault(key, spot)
    return {key: line_of(*spot) for key, spot in spot_by_key.items()}


def _keys(command: Command) -> tuple[bytes, ...]:
    if command[0] in MANY:
        return command[1:]
    return () if command[0] in NO_KEY else command[1:2]


def _kind(key: bytes) -> bytes:
    return key.rpartition(b":")[0]


def _slip(one: str, other: str) -> bool:
    """Do they differ by one letter, two swapped ones, or a capital? Numbers are deliberate."""
    short, long = sorted((one.casefold(), other.casefold()), key=len)
    if len(short) < SHORTEST or len(long) > len(short) + 1:
        return False
    if len(long) > len(short):
        more = [at for at in range(len(long)) if long[:at] + long[at + 1 :] == short]
        return bool(more) and not long[more[0]].isdigit()
    apart = [at for at in range(len(short)) if short[at] != long[at]]
    if len(apart) == 2:
        first, second = apart
        return second == first + 1 and short[first] == long[second] and short[second] == long[first]
    return not apart or (len(apart) == 1 and not (short[apart[0]] + long[apart[0]]).isdigit())


def causes(graph: Graph, target: Target) -> Iterator[str]:
    """Yield a sentence for each mistake, with its line."""
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
    """Yield the uncaught error of each actor that ends in ERROR on this path."""
    for actor, node in graph.alive(graph.states[path.end]):
        if isinstance(ended := node.requests[0], Failed):
            yield f"{graph.automata[actor].name} ends in ERROR: {ended.error}"


def never_well(graph: Graph) -> Iterator[str]:
    """Yield the error of each actor that ends in ERROR in every order of an exhaustive search."""
    for automaton in graph.automata:
        if isinstance(automaton, Automaton):
            ends = [node.requests[0] for node in automaton.nodes if node.ended]
            if ends and all(isinstance(ended, Failed) for ended in ends):
                error = next(ended.error for ended in ends if isinstance(ended, Failed))
                yield f"{automaton.name} ends in ERROR in every order: {error}"


def mistake(graph: Graph, target: Target, paths: dict[str, Path]) -> str:
    """Return the exception of a path on which only one actor moved; "" if there is none."""
    for rule in target.rules:
        path = paths.get(rule.name) if isinstance(rule, Mistake) else None
        if path and not path.cost.faults and len({edge.actor for _, edge in path.edges} - {-1}) < 2:
            return raised(graph, path)
    return ""


def raised(graph: Graph, path: Path) -> str:
    """Return the exception in which an actor has ended there, with its line."""
    outcomes = (node.outcome for _, node in graph.alive(graph.states[path.end]))
    return next(filter(lambda text: text.startswith(RAISED), outcomes), "").removeprefix(RAISED)
