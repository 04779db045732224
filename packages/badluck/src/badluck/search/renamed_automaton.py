"""Actors run the same code: its behaviour is learned from one of them, and used for all.

Each uses the one automaton as if it were the first actor, with the two names exchanged.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from badluck.actor.request import Hear, Request, Send
from badluck.search.automaton import Automaton
from badluck.search.behaviour import ActorAnswer, Move, Node
from badluck.search.names import LETTERS, Rename


class RenamedAutomaton:
    """The automaton of the actor of that number; nodes have the same numbers for all."""

    def __init__(self, first: Automaton, actor: int, rename: Rename) -> None:
        """`first` is the first actor's automaton."""
        self.first = first
        self.rename = rename
        self.name = LETTERS[actor]
        names = list(range(len(LETTERS)))
        names[0], names[actor] = actor, 0
        self.names = tuple(names)
        self.nodes = RenamedNodes(first, rename, self.names)

    @property
    def counts_time(self) -> bool:
        return self.first.counts_time

    def move(
        self, at: int, fiber: int, said: Any, now: int, taken: frozenset[int] | None = None
    ) -> Move:
        move = self.first.move(at, fiber, self.rename(said, self.names), now, taken)
        return move._replace(closed=self.rename(move.closed, self.names)) if move.closed else move

    def same_again(self, at: int, to: int, round: Sequence[ActorAnswer]) -> bool:
        renamed = [answer._replace(reply=self.rename(answer.reply, self.names)) for answer in round]
        return self.first.same_again(at, to, renamed)

    def turn(
        self, at: int, fiber: int, said: Any, now: int, taken: frozenset[int] | None
    ) -> int | None:
        return self.first.turn(at, fiber, self.rename(said, self.names), now, taken)

    def history(self, at: int) -> list[ActorAnswer]:
        answers = self.first.history(at)
        return [answer._replace(reply=self.rename(answer.reply, self.names)) for answer in answers]


class RenamedNodes:
    """The nodes, with the commands in this actor's name."""

    def __init__(self, first: Automaton, rename: Rename, names: tuple[int, ...]) -> None:
        self.first, self.rename, self.names = first, rename, names
        self.known: dict[int, Node] = {}

    def __getitem__(self, at: int) -> Node:
        known = self.known.get(at)
        if known is None:
            node = self.first.nodes[at]
            requests = tuple([self._renamed(request) for request in node.requests])
            bound = self.rename(node.bound, self.names)
            known = self.known[at] = replace(node, requests=requests, bound=bound)
        return known

    def _renamed(self, request: Request) -> Request:
        if isinstance(request, Send | Hear):
            made: Request = self.rename(request, self.names)
            return made
        return request
