"""Keys that look like a slip: nearly the name of one that is there from the beginning."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import product

from badluck.actor.request import Send
from badluck.actor.user_code_error import line_of
from badluck.model.channels import LISTENS
from badluck.model.values import Command
from badluck.search.automaton import Automaton
from badluck.search.graph import Graph

SHORTEST = 4  # characters; most shorter names are one letter apart
MANY = {b"MGET", b"DEL", b"UNLINK", b"EXISTS", b"TOUCH", b"WATCH"}  # all their words are keys
NO_KEY = {b"EVAL", b"EVALSHA", b"SCRIPT", b"KEYS", b"SCAN", *LISTENS}
NO_KEY |= {b"PUBLISH", b"SPUBLISH", b"PUBSUB"}


def misspelt(graph: Graph, expected: Iterable[bytes]) -> Iterator[str]:
    """A sentence for each, with the line that first names it; `expected` are right as well."""
    states = graph.servers.states
    known = {*expected, *dict(states[0][0].entries)}
    there = {key for servers in states for key, _ in servers[0].entries}
    for key, where in _named(graph).items():
        for meant in known if key not in known else ():
            if key in there and b":" in key and _kind(key) == _kind(meant):
                continue  # cart:ann beside cart:anon
            name, other = (each.decode("utf-8", "replace") for each in (key, meant))
            if _slip(name, other):
                what = "is another key than" if key in there else "is never there, unlike"
                yield f"{where}: {name} {what} {other}; is that meant?"


def _named(graph: Graph) -> dict[bytes, str]:
    """The keys that own code names in a command, and the lines."""
    found: dict[bytes, tuple[str, int]] = {}
    for automaton in graph.automata:
        for node in automaton.nodes if isinstance(automaton, Automaton) else ():
            for request, spots in zip(node.requests, node.stands, strict=False):
                for command in request.commands if isinstance(request, Send) else ():
                    for key, spot in product(_keys(command), spots):
                        found.setdefault(key, spot)
    return {key: line_of(*spot) for key, spot in found.items()}


def _keys(command: Command) -> tuple[bytes, ...]:
    if command[0] in MANY:
        return command[1:]
    return () if command[0] in NO_KEY else command[1:2]


def _kind(key: bytes) -> bytes:
    return key.rpartition(b":")[0]


def _slip(one: str, other: str) -> bool:
    """Is it one letter more, less or other, two changed, or a capital? Numbers are meant."""
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
