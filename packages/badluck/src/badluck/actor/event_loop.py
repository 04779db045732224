"""An event loop of asyncio in a fiber: it waits in the gate, and the search chooses its answer.

All tasks that can run do run. When every task waits, the actor has one request for each command in
flight, and one for its next timer. The search tries each order of their answers. Between two
answers, the tasks run in one order only, as threads do.

A sent command cannot be called back. A task that is cancelled or times out closes its connection,
and the command still reaches the server later. A reply may be on its way when another reply or a
timer comes first. So a command that is sent while the actor also waits for something else is
offered in two ways: answered at once, or executed with its reply still to come.
"""

from __future__ import annotations

import asyncio
import heapq
import itertools
import sys
from asyncio import Future, base_events, current_task, events
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager, suppress
from contextvars import Context, copy_context
from types import FrameType
from typing import Any, NoReturn

from greenlet import GreenletExit

from badluck.actor import threads, user_code_error
from badluck.actor.actor import BOOTED, Fiber, ask, here
from badluck.actor.request import NEVER, Done, Failed, Hear, Lost, Request, Rest, Send
from badluck.model.blocking import note_binding
from badluck.model.values import Command, Reply

TURNS = 1000  # of tasks that wait for nothing, while another waits for an answer
IDLE = Done("")
COMES = Rest(0, "its reply comes")  # at any time


class Task(asyncio.Task[Any]):
    """A task whose hash is its number, so that sets of tasks have one order in each run."""

    def __init__(
        self, number: int, coro: Coroutine[Any, Any, Any], context: Context | None, **more: Any
    ) -> None:
        self.number = number
        self.context = copy_context() if context is None else context
        super().__init__(coro, context=self.context, **more)
        self._log_destroy_pending = False

    def __hash__(self) -> int:
        return self.number


class Loop(base_events.BaseEventLoop):
    """A loop that an actor's code makes."""

    _ready: Any
    _scheduled: list[asyncio.TimerHandle]

    def __init__(self) -> None:
        super().__init__()
        self.set_debug(False)
        self.actor = here().actor
        self.actor.loops.append(self)
        self.fiber = here()  # in which it runs
        self.waits = False
        self.turns = 0  # since it waited last
        self.numbers = itertools.count(1)
        self.flights: list[Flight] = []
        self.tasks: list[Task] = []  # not done yet, in the order in which they began

    def __del__(self) -> None:
        """Do nothing: it holds no resource of the system, and is often collected late."""

    def time(self) -> float:
        if sys._getframe(1).f_globals.get("__name__", "").startswith("asyncio."):
            self.actor.look_at_clock()
        else:
            self.actor.ask_clock()
        return self.actor.uptime / 1000

    def run_forever(self) -> None:
        self.fiber = here()
        before, self.fiber.loop = self.fiber.loop, self
        try:
            super().run_forever()
        finally:
            self.fiber.loop = before

    def create_task(
        self, coro: Any, *, name: Any = None, context: Context | None = None, **more: Any
    ) -> Any:
        """Create a task with a number of the loop's own: asyncio's count all actors' tasks."""
        if self._task_factory is not None:  # type: ignore[attr-defined]
            raise user_code_error.refuse_here("sets a task factory, which is not supported")
        self._check_closed()  # type: ignore[attr-defined]
        number = next(self.numbers)
        task = Task(number, coro, context, loop=self, name=name or f"Task-{number}", **more)
        self.tasks.append(task)
        return task

    def timers(self) -> list[asyncio.TimerHandle]:
        """Return the pending timers, the earliest first."""
        return sorted(
            (timer for timer in self._scheduled if not timer.cancelled()),
            key=asyncio.TimerHandle.when,
        )

    def wake(self) -> None:
        """Wake the loop: something has come that a task waits for."""
        if self.waits:
            self.fiber.woken = True

    @contextmanager
    def suspended(self) -> Iterator[None]:
        """Unset the running loop while another fiber runs in the same system thread."""
        hooks = sys.get_asyncgen_hooks()
        events._set_running_loop(None)
        sys.set_asyncgen_hooks(None, None)
        try:
            yield
        finally:
            events._set_running_loop(self)
            sys.set_asyncgen_hooks(*hooks)

    def abandon(self) -> None:
        """End the tasks of an actor that is over; what they do on their way out has no effect."""
        for task in self.tasks:
            with suppress(BaseException):
                task.get_coro().close()
        with suppress(BaseException):
            self.close()

    def call_exception_handler(self, context: dict[str, Any]) -> None:
        """Ignore the error; a real loop would log it."""

    def run_in_executor(self, *_: Any) -> NoReturn:  # type: ignore[override]
        raise user_code_error.refuse_here(
            "gives work to another thread (asyncio.to_thread, run_in_executor); not supported"
        )

    def _run_once(self) -> None:
        """Wait if no task can go on, then run the tasks that can, as a real loop does."""
        if self.actor.over:
            raise GreenletExit
        if not self._ready and not self._stopping:  # type: ignore[attr-defined]
            self._wait()
            self.turns = 0
        self.turns += 1
        if self.turns > TURNS:
            raise user_code_error.refuse_here(
                "goes round and round while it waits for an answer, without a pause"
            )
        for _ in range(len(self._ready)):
            handle = self._ready.popleft()
            if not handle.cancelled():
                handle._run()
        self._forget()

    def _wait(self) -> None:
        timers = self.timers()
        self._scheduled[:] = timers  # sorted is a heap, too
        others = any(
            other is not self.fiber and not isinstance(other.request, Done | Failed)
            for other in self.actor.fibers
        )
        until = NEVER
        if timers:
            if len(timers) == 1 and not others:
                # This is only a sleep of the work.
                threads.sleep((moment(timers[0]) - self.actor.look_at_clock()) / 1000)
                self._due(1)
                return
            until = moment(timers[0])
        for flight in self.flights:
            flight.show()
        self.waits = True
        woken = ask(Rest(until))
        self.waits = False
        # A reply may come when the time is over, too: the search has chosen which is first.
        if not woken:
            now = self.actor.look_at_clock()
            self._due(sum(moment(timer) <= now for timer in timers))

    def _due(self, many: int) -> None:
        for _ in range(many):
            timer = heapq.heappop(self._scheduled)
            timer._scheduled = False  # type: ignore[attr-defined]
            self._ready.append(timer)

    def _forget(self) -> None:
        """Forget tasks that are done; raise the error of a task in which code was refused."""
        for task in self.tasks:
            if task.done() and isinstance(error := task._exception, user_code_error.UserCodeError):
                raise error
        self.tasks = [task for task in self.tasks if not task.done()]

    def _process_events(self, _: Any) -> None:
        """Do nothing: there are no I/O events."""

    def _write_to_self(self) -> None:
        """Wake the loop: another thread of the actor has something for it."""
        self.wake()


class ReplyPath(Fiber):
    """One of the two ways in which a flight is answered."""

    def __init__(self, flight: Flight, slow: bool) -> None:
        super().__init__(flight.loop.actor, lambda: IDLE, IDLE)
        self.flight = flight
        self.slow = slow

    @property
    def frame(self) -> FrameType | None:
        """Return the task's innermost frame of the explored code."""
        return self.flight.frame()

    def go_on(self, *answer: Any) -> None:
        self.flight.answered(answer[0], self.slow)


class Flight:
    """The commands that are in flight on one connection, until they are answered."""

    def __init__(self, loop: Loop, name: str) -> None:
        """`name` is the connection's."""
        self.loop = loop
        self.name = name
        self.units: list[tuple[Command, ...]] = []  # to be sent
        self.answers: list[Reply | Lost] = []
        self.hears: Hear | None = None
        self.comes: Rest | None = None  # the reply; it was given already
        self.waits: Future[None] | None = None  # the task that sent it
        self.sender: Any = None  # that task's outermost coroutine
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
        own, innermost, awaited = self.loop.actor.code.files.own, None, self.sender
        while (frame := getattr(awaited, "cr_frame", None)) is not None:
            innermost = frame if own(frame.f_code.co_filename) else innermost
            awaited = awaited.cr_await
        return innermost

    def close(self) -> None:
        """Close the connection; commands that were sent stay in flight."""
        self.open = False
        self.hears = self.comes = self.waits = None
        if not self.units:
            self.loop.actor.hang_up(self.name)
        self.show()

    def answered(self, said: Any, slow: bool) -> None:
        if self.comes:
            self.comes = None
        elif self.units:
            note_binding(self.loop.actor.bound, self.name, self.units.pop(0))
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
        """Offer the search the requests that the flight waits for."""
        self.prompt.request = self._request()
        last = len(self.units) == 1 and self.open and not self.comes
        self.slow.request = self.prompt.request if last and self._actor_waits() else IDLE

    def _request(self) -> Request:
        if self.comes:
            return self.comes
        return Send(self.name, self.units[0]) if self.units else self.hears or IDLE

    def _actor_waits(self) -> bool:
        """Say whether its actor waits for anything else."""
        others = (
            other for other in self.loop.actor.fibers[1:] if other not in (self.prompt, self.slow)
        )
        return bool(self.loop.timers()) or any(
            not isinstance(other.request, Done) for other in others
        )


def moment(timer: asyncio.TimerHandle) -> int:
    """Return the timer's time in ms since 1970."""
    return round(timer.when() * 1000) + BOOTED


def run(coroutine: Coroutine[Any, Any, Any]) -> Any:
    """Run a coroutine, as asyncio.run does."""
    with asyncio.Runner(loop_factory=Loop) as runner:
        return runner.run(coroutine)
