"""The state of an event loop that waits: its tasks, its timers, and what is under way.

A coroutine's values on the interpreter's stack cannot be seen. Where a coroutine keeps a value
there, two states are one only if all answers before came in the same order (search/automaton.py).
They are never one if only the type of some object is known.
"""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Callable, Iterator
from types import AsyncGeneratorType, CoroutineType, FrameType, GeneratorType
from typing import Any

from badluck.actor.event_loop import Flight, Loop, Task, moment

Inside = Callable[[Any], object]  # a value that compares by content
SUSPENDED = (CoroutineType, AsyncGeneratorType)
FRAMES = {CoroutineType: "cr_frame", AsyncGeneratorType: "ag_frame", GeneratorType: "gi_frame"}
AWAITS = {CoroutineType: "cr_await", AsyncGeneratorType: "ag_await", GeneratorType: "gi_yieldfrom"}
# Objects between an awaiting coroutine and what it awaits, without information of their own.
BETWEEN = {
    *("async_generator_asend", "async_generator_athrow", "anext_awaitable"),
    *("FutureIter", "coroutine_wrapper"),
}


class UnknownContents(Exception):
    """An object of which only the type is known."""


def loop_state(loop: Loop, inside: Inside, frozen: Callable[[FrameType], object]) -> object:
    """Return the whole state. `frozen` shows a frame. Raises UnknownContents."""
    return (
        tuple(
            (
                _waits_for(task, loop),
                inside([callback for callback, _ in task._callbacks or ()]),
                inside({variable.name: value for variable, value in task.context.items()}),
                *suspended(task.get_coro(), inside, frozen),
            )
            for task in loop.tasks
        ),
        # Usually none, except where code waits that is not to be awaited, such as redis.Redis.
        tuple((inside(ready._callback), inside(ready._args)) for ready in loop._ready),
        tuple(
            (moment(timer), inside(timer._callback), inside(timer._args))  # type: ignore[attr-defined]
            for timer in loop.timers()
        ),
        tuple(_under_way(flight, loop) for flight in loop.flights),
    )


def _under_way(flight: Flight, loop: Loop) -> object:
    waits = flight.waits and _known(flight.waits, loop)
    return (waits, *flight.units, tuple(flight.answers), flight.hears, flight.comes, flight.open)


def _waits_for(task: Task, loop: Loop) -> object:
    """Return which tasks wait for the same future, and how this task was cancelled."""
    waiter = task._fut_waiter  # type: ignore[attr-defined]
    return (task.cancelling(), task._must_cancel, _known(waiter, loop))  # type: ignore[attr-defined]


def _known(future: Any, loop: Loop) -> object:
    """Identify a pending future by the tasks that wait for it."""
    return tuple(nth for nth, task in enumerate(loop.tasks) if task._fut_waiter is future)  # type: ignore[attr-defined]


def of_future(future: asyncio.Future[Any], inside: Inside) -> object:
    """Return a future's result, or the tasks that wait for it."""
    kind, loop = type(future), future.get_loop()
    if future.cancelled():
        return (kind, "cancelled")
    if future.done():
        error = future._exception  # exception() would be noticed
        return (kind, inside(error)) if error else (kind, "done", inside(future._result))  # type: ignore[attr-defined]
    if not isinstance(loop, Loop):
        raise UnknownContents(kind)
    if isinstance(future, Task):
        return (kind, loop.tasks.index(future))
    held = inside(getattr(future, "__dict__", None))
    callbacks = inside([callback for callback, _ in future._callbacks or ()])
    return (kind, _known(future, loop), held, callbacks)


def suspended(awaited: Any, inside: Inside, frozen: Callable[[FrameType], object]) -> list[object]:
    """Return a coroutine or an async generator, and all that it awaits, the outermost first."""
    return list(_chain(awaited, inside, frozen))


def _chain(awaited: Any, inside: Inside, frozen: Callable[[FrameType], object]) -> Iterator[object]:
    while awaited is not None:
        kind = type(awaited)
        if kind in FRAMES:
            frame = getattr(awaited, FRAMES[kind])
            yield frozen(frame) if frame is not None else "over"
            awaited = getattr(awaited, AWAITS[kind])
        elif kind.__name__ in BETWEEN:
            yield kind
            awaited = _referred(awaited)
        elif isinstance(awaited, asyncio.Future):
            yield of_future(awaited, inside)
            return
        else:
            raise UnknownContents(kind)


def _referred(between: Any) -> Any:
    for referent in gc.get_referents(between):
        if type(referent) in FRAMES or isinstance(referent, asyncio.Future):
            return referent
    raise UnknownContents(type(between))
