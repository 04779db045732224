"""What one buyer may do next, in one world: looked up, as many states share both."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from app.explorer.automaton import Known
from app.explorer.request import Hear, Lost, Request, Rest, Send
from app.explorer.world import World


class Stride(NamedTuple):
    """One strand's next step: where it leads the world and the buyer."""

    strand: int
    world: int
    node: int
    wrote: bool
    lost: tuple[int, int] | None  # the same, if the reply is lost; None: there is none to lose


class Moves:
    def __init__(self, world: World, automata: Sequence[Known], lossy: bool) -> None:
        """`lossy`: replies may be lost."""
        self.lossy = lossy
        self.world = world
        self.automata = automata
        self.known: dict[tuple[int, int, int], list[Stride]] = {}

    def of(self, world: int, buyer: int, at: int) -> list[Stride]:
        """The strides of a buyer that stands at the node `at`."""
        key = (world, buyer, at)
        found = self.known.get(key)
        if found is None:
            found = self.known[key] = list(self._strides(world, buyer, at))
        return found

    def _strides(self, world: int, buyer: int, at: int) -> Iterator[Stride]:
        node = self.automata[buyer].nodes[at]
        if node.ended and len(node.requests) == 1:
            return
        for strand, request in enumerate(node.requests):
            yield from self._stride(world, buyer, at, strand, request)

    def _stride(
        self, world: int, buyer: int, at: int, strand: int, request: Request
    ) -> Iterator[Stride]:
        now = self.world.now(world)
        to, wrote, said = world, False, None
        if isinstance(request, Send):
            to, said, wrote = self.world.send(world, request.connection, request.commands)
        elif isinstance(request, Hear):
            heard = self.world.hear(world, request.connection)
            if heard is not None:
                to, said, _ = heard
            elif request.until is None or now < request.until:
                return
        elif not isinstance(request, Rest) or now < request.until:
            return
        lost = None
        if self.lossy and isinstance(request, Send) and not isinstance(said, Lost):
            lost = self._go_on(to, buyer, at, strand, Lost(), now)
        yield Stride(strand, *self._go_on(to, buyer, at, strand, said, now), wrote, lost)

    def _go_on(
        self, world: int, buyer: int, at: int, strand: int, said: Any, now: int
    ) -> tuple[int, int]:
        move = self.automata[buyer].move(at, strand, said, now)
        return (self.world.drop(world, move.closed) if move.closed else world), move.to
