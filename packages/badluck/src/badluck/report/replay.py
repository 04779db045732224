"""Play a schedule again, with the same code, and see whether all goes the same."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from badluck.actor.actor import Actor
from badluck.actor.request import Hear, Lost, Rest, Send, outcome
from badluck.report.trace import Step
from badluck.simulated.values import Command, Entry, Reply
from badluck.target import EPOCH, Target

MICROSECONDS = re.compile(r"\b(19\d{11})\d{3}\b")


class Backend(Protocol):
    """Where a schedule is played: `RealBackend` for real, `ModelBackend` in the model.

    A connection's name begins with the number of its server.
    """

    def begin(self, now: int, setup: Sequence[Sequence[Command]]) -> None:
        """Empty servers, and the commands that each of them is told first."""

    def send(self, name: str, commands: Sequence[Command]) -> tuple[Reply, ...] | Lost:
        """What comes back at once; Lost when the connection had broken before."""

    def hear(self, name: str) -> tuple[Reply, ...] | Lost:
        """One of what it has been sent, if there is anything."""

    def close(self, name: str) -> None: ...

    def pass_time(self, now: int) -> None: ...

    def fail_over(self) -> None:
        """The server that was written last forgets that write. Raises BadluckError without one."""

    def entries(self) -> dict[bytes, Entry]:
        """The store's keys."""

    def fill_up(self, fill: Callable[[dict[bytes, Entry]], dict[bytes, Entry]]) -> None:
        """The store's keys become what `fill` makes of them."""


@dataclass(frozen=True)
class Played:
    """`expected`: what the trace says of this step; `got`: what happened."""

    expected: Step
    got: Step

    @property
    def same(self) -> bool:
        return _comparable(self.expected) == _comparable(self.got)


def replay(
    target: Target, names: Sequence[str], steps: Sequence[Step], backend: Backend
) -> list[Played]:
    """All steps, up to the first that goes otherwise."""
    played: list[Played] = []
    with target.surroundings():
        backend.begin(EPOCH, target.setup())
        actors = {name: Actor(name, target.code, EPOCH) for name in names}
        try:
            for step in steps:
                played.append(Played(step, _play(target, actors, step, backend)))
                if not played[-1].same:
                    break
        finally:
            for actor in actors.values():
                actor.drop()
    return played


def _play(target: Target, actors: dict[str, Actor], step: Step, backend: Backend) -> Step:
    lines, said, told = step.lines, list(step.said), ""
    if step.does in ("pause", "time"):
        backend.pass_time(EPOCH + step.at)
    elif step.does == "failover":
        backend.fail_over()
        backend.pass_time(EPOCH + step.at)
    elif step.does == "crash":
        actor = actors[step.actor]
        for name in list(actor.open):
            backend.close(name)
        actor.drop()
    elif step.does == "again":
        for name in list(actors[step.actor].open):
            backend.close(name)
        actors[step.actor].drop()
        actors[step.actor] = Actor(step.actor, target.code, EPOCH + step.at)
        backend.fill_up(target.filled_up)
    else:
        actor = actors[step.actor]
        lines, said = _go_on(actor, step, backend)
        if step.fiber == 0:
            told = outcome(actor.requests[0])
    shown = target.shown(target.book(backend.entries()))
    return step._replace(lines=lines, said=said, told=told, shown=shown)


def _go_on(actor: Actor, step: Step, backend: Backend) -> tuple[list[str], list[str]]:
    if actor.over:
        return ["it has crashed"], []
    if step.fiber >= len(actor.fibers):
        return ["it does no such thing beside its work"], []
    request = actor.requests[step.fiber]
    answer: Any = None
    if isinstance(request, Send):
        answer = backend.send(request.connection, request.commands)
    elif isinstance(request, Hear):
        answer = backend.hear(request.connection) or None
    elif not isinstance(request, Rest):
        return ["it has come to its end"], []
    described = actor.code.words.of(request, answer)
    if step.does == "lost":
        answer = Lost()
    actor.go_on(step.fiber, answer, EPOCH + step.at)
    for name in actor.closed:
        backend.close(name)
    return described


def _comparable(step: Step) -> Step:
    """Without what each server tells in its own way."""
    return step._replace(lines=list(map(_plain, step.lines)), said=list(map(_plain, step.said)))


def _plain(text: str) -> str:
    # Of an error the first word. Of µs since 1970 the ms: between those a server counts by itself.
    return MICROSECONDS.sub(r"\1…", text.partition(" ")[0] if text.startswith("(") else text)
