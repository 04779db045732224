"""A line of execution that stops at each thing that it sends, until the search goes on with it.

A greenlet, because to leave one for another costs a third of a microsecond, and because one that
has crashed is simply never gone on with: no `finally` of its own runs.
"""

from __future__ import annotations

from collections.abc import Callable
from types import FrameType
from typing import TYPE_CHECKING, Any, cast

from greenlet import GreenletExit, getcurrent, greenlet

from badluck.actor.request import Request

EXITS = 20
PARKED: list[Fiber] = []  # nobody goes on with them; kept, since to collect one is to run it

if TYPE_CHECKING:
    from badluck.actor.actor import Actor
    from badluck.actor.loop import Loop


class Fiber(greenlet):
    """One line of execution of an actor: its work, or a thread beside it."""

    def __init__(self, actor: Actor, run: Callable[..., Request], request: Request) -> None:
        super().__init__(run)
        self.actor = actor
        self.request = request
        self.woken = False  # what it rests for has come: it goes on with the others' next step
        self.told_in = 0  # the number of the fiber that stands for it; 0: none but itself
        self.exits = 0  # so often it was told to end
        self.started: tuple[str, int] | None = None  # of a thread, by that line of a file
        self.outlives = False  # goes on when the work has come to its end
        self.loop: Loop | None = None  # of asyncio, that runs in it
        self.thread: Any = None  # what threading.current_thread() says in it

    @property
    def frame(self) -> FrameType | None:
        """The innermost of what waits here."""
        return self.gr_frame

    def go_on(self, *answer: Any) -> None:
        self.parent = getcurrent()  # whoever searches now
        self.request = self.switch(*answer)


def here() -> Fiber:
    """Whose code is running."""
    return cast(Fiber, getcurrent())


def ask(request: Request) -> Any:
    """From a fiber: stop here until the search knows the answer."""
    fiber = here()
    if fiber.actor.over or fiber.parent is None:
        fiber.exits += 1
        if fiber.exits > EXITS and fiber.parent is not None:
            PARKED.append(fiber)  # `except:` in a loop catches that too: it would never end
            return fiber.parent.switch(request)
        raise GreenletExit  # what it does on its way out reaches nobody
    if fiber.loop is None:
        return fiber.parent.switch(request)
    with fiber.loop.aside():
        return fiber.parent.switch(request)
