"""Replacements in asyncio, so that an actor's code always finds its own loop.

Outside of an actor's code all of it is the system's.
"""

from __future__ import annotations

import asyncio
import selectors
from asyncio import events, tasks
from collections.abc import Callable, Iterable
from typing import Any, NoReturn

from greenlet import getcurrent
from redis.asyncio.connection import Connection, UnixDomainSocketConnection

from badluck.actor import user_code_error
from badluck.actor.actor import Fiber, here
from badluck.actor.event_loop import Loop
from badluck.actor.patching import Replacement, in_fiber

ITS_OWN = (
    "makes a client of redis.asyncio by itself, and there is no server for it; "
    "write `async def`, and use the client that it is given"
)


def instead() -> list[Replacement]:
    return [
        *((module, "new_event_loop", in_fiber(asyncio.new_event_loop, Loop)) for module in _BOTH),
        *(
            (module, "get_event_loop", in_fiber(asyncio.get_event_loop, _get_loop))
            for module in _BOTH
        ),
        *(
            (module, "all_tasks", in_fiber(asyncio.all_tasks, _all_tasks))
            for module in (asyncio, tasks)
        ),
        (asyncio, "as_completed", _as_completed(asyncio.as_completed)),
        (
            selectors,
            "DefaultSelector",
            _refused(
                selectors.DefaultSelector,
                "makes a loop that waits for sockets; only asyncio's own is supported",
            ),
        ),
        *(
            (kind, "_connect", _refused(vars(kind)["_connect"], ITS_OWN))
            for kind in (Connection, UnixDomainSocketConnection)
        ),
    ]


_BOTH = (asyncio, events)


def _get_loop() -> Any:
    """Return the fiber's loop; make it if there is none, for code from before asyncio.run."""
    loops = [loop for loop in here().actor.loops if loop.fiber is here()]
    usable = [loop for loop in loops if not loop.is_closed()]
    return usable[-1] if usable else Loop()


def _all_tasks(loop: Any = None) -> set[Any]:
    """Return the loop's tasks in the same order in each run."""
    loop = loop or asyncio.get_running_loop()
    return {task for task in loop.tasks if not task.done()}


def _as_completed(real: Callable[..., Any]) -> Callable[..., Any]:
    """Start the tasks here: the original starts them in the order of a set."""

    def completed(awaited: Iterable[Any], **more: Any) -> Any:
        if isinstance(getcurrent(), Fiber):
            awaited = [asyncio.ensure_future(awaitable) for awaitable in awaited]
        return real(awaited, **more)

    return completed


def _refused(real: Callable[..., Any], text: str) -> Callable[..., Any]:
    """Raises UserCodeError in an actor's code."""

    def refuse(*_: Any, **__: Any) -> NoReturn:
        raise user_code_error.refuse_here(text)

    return in_fiber(real, refuse)
