"""What a connection of asyncio's has under way: a fiber's request, without a fiber's code.

Commands leave when they are sent, and nothing calls them back: who is cancelled, or gives up in
time, hangs up, and they still reach the server, any time later. A reply may be on its way while
another comes, or a timer. So whatever is sent while the actor waits for something else, too, is
shown twice: as answered at once, and as done by the server with its reply still to come.
"""

from __future__ import annotations

from asyncio import Future, current_task
from types import FrameType
from typing import TYPE_CHECKING, Any

from badluck.actor import bound
from badluck.actor.actor import Fiber
from badluck.actor.request import Done, Hear, Lost, Request, Rest, Send
from badluck.model.values import Command, Reply

if TYPE_CHECKING:
    from badluck.actor.loop import Loop

IDLE = Done("")
COMES = Rest(0, "its reply comes")  # at any time


class ReplyPath(Fiber):
    """One of the two ways in which a flight is answered."""

    def __init__(self, flight: Flight, slow: bool) -> None:
        super().__init__(flight.loop.actor, lambda: IDLE, IDLE)
        self.flight = flight
        self.slow = slow

    @property
    def frame(self) -> FrameType | None:
        """Of its task, the innermost of the explored code's own."""
        return self.flight.frame()

    def go_on(self, *answer: Any) -> None:
        self.flight.answered(answer[0], self.slow)


class Flight:
    """Of one connection, from its beginning to its end."""

    def __init__(self, loop: Loop, name: str) -> None:
        """`name` is the connection's."""
        self.loop = loop
        self.name = name
        self.units: list[tuple[Command, ...]] = []  # to be sent
        self.answers: list[Reply | Lost] = []
        self.hears: Hear | None = None
        self.comes: Rest | None = None  # the reply; it was given already
        self.waits: Future[None] | None = None  # whoever has sent it
        self.sender: Any = None  # the outermost of whoever has sent it
        self.open = True
        self.prompt, self.slow = ReplyPath(self, slow=False), ReplyPath(self, slow=True)
        self.prompt.told_in = self.slow.told_in = len(loop.actor.fibers)
        loop.actor.fibers += [self.prompt, self.slow]
        loop.flights.append(self)

    async def send(self, units: list[tuple[Command, ...]]) -> None:
        self.units = units
        await self._answer()

    async def hear(self, until: int | None) -> None:
        self.hears = Hear(self.name, until)
        await self._answer()

    async def _answer(self) -> None:
        task = current_task()
        self.waits, self.sender = self.loop.create_future(), task and task.get_coro()
        self.show()
        try:
            await self.waits
        except BaseException:
            self.close()
            raise
        finally:
            self.waits = None

    def frame(self) -> FrameType | None:
        own, found, awaited = self.loop.actor.code.files.own, None, self.sender
        while (frame := getattr(awaited, "cr_frame", None)) is not None:
            found = frame if own(frame.f_code.co_filename) else found
            awaited = awaited.cr_await
        return found

    def close(self) -> None:
        """What it has sent is on its way."""
        self.open = False
        self.hears = self.comes = self.waits = None
        if not self.units:
            self.loop.actor.hang_up(self.name)
        self.show()

    def answered(self, said: Any, slow: bool) -> None:
        if self.comes:
            self.comes = None
        elif self.units:
            bound.note(self.loop.actor.bound, self.name, self.units.pop(0))
            self.answers += [said] if isinstance(said, Lost) else said
            self.comes = COMES if slow else None
        elif said is not None:
            self.answers += [said] if isinstance(said, Lost) else said
        if not self.units and not self.open:
            self.close()
        elif not self.units and not self.comes:
            self.hears = None
            if self.waits and not self.waits.done():
                self.waits.set_result(None)
            self.loop.wake()
        self.show()

    def show(self) -> None:
        """To the search: what it waits for."""
        self.prompt.request = self._request()
        last = len(self.units) == 1 and self.open and not self.comes
        self.slow.request = self.prompt.request if last and self._beside() else IDLE

    def _request(self) -> Request:
        if self.comes:
            return self.comes
        return Send(self.name, self.units[0]) if self.units else self.hears or IDLE

    def _beside(self) -> bool:
        """Does its actor wait for anything else?"""
        others = (one for one in self.loop.actor.fibers[1:] if one not in (self.prompt, self.slow))
        return bool(self.loop.timers()) or any(
            not isinstance(other.request, Done) for other in others
        )
