"""An event loop of asyncio in a fiber: it waits in the gate, and the search says for what.

All that can run, runs; when every task waits, the actor has one request for each command that is
under way (flight.py), and one for its next timer. Which of them is answered first is what is
searched. What tasks do to each other's variables in between has one order only, as with threads.
"""

from __future__ import annotations

import asyncio
import heapq
import itertools
import sys
from asyncio import base_events, events
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager, suppress
from contextvars import Context, copy_context
from typing import TYPE_CHECKING, Any, NoReturn

from greenlet import GreenletExit

from badluck.actor import threads, user_code_error
from badluck.actor.actor import BOOTED, ask, here
from badluck.actor.request import NEVER, Done, Failed, Rest

if TYPE_CHECKING:
    from badluck.actor.flight import Flight

TURNS = 1000  # of tasks that wait for nothing, while somebody waits for an answer


class Task(asyncio.Task[Any]):
    """Sets of them are in one order at each run."""

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
    """Made by an actor's code, and of no use to anybody else."""

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
        """It holds nothing of the system's, and many a search is through before its code is."""

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
        """Numbers are its own: those of asyncio count all actors' tasks."""
        if self._task_factory is not None:  # type: ignore[attr-defined]
            raise user_code_error.refuse_here("sets a task factory, which is not supported")
        self._check_closed()  # type: ignore[attr-defined]
        number = next(self.numbers)
        task = Task(number, coro, context, loop=self, name=name or f"Task-{number}", **more)
        self.tasks.append(task)
        return task

    def timers(self) -> list[asyncio.TimerHandle]:
        """That will come, the first first."""
        return sorted(
            (timer for timer in self._scheduled if not timer.cancelled()),
            key=asyncio.TimerHandle.when,
        )

    def wake(self) -> None:
        """Something has come that a task waits for."""
        if self.waits:
            self.fiber.woken = True

    @contextmanager
    def aside(self) -> Iterator[None]:
        """While others go on, in the same thread of the system."""
        hooks = sys.get_asyncgen_hooks()
        events._set_running_loop(None)
        sys.set_asyncgen_hooks(None, None)
        try:
            yield
        finally:
            events._set_running_loop(self)
            sys.set_asyncgen_hooks(*hooks)

    def abandon(self) -> None:
        """Its actor is over: tasks end, and what they do on their way reaches nobody."""
        for task in self.tasks:
            with suppress(BaseException):
                task.get_coro().close()
        with suppress(BaseException):
            self.close()

    def call_exception_handler(self, context: dict[str, Any]) -> None:
        """A real one writes it to the log."""

    def run_in_executor(self, *_: Any) -> NoReturn:  # type: ignore[override]
        raise user_code_error.refuse_here(
            "gives work to another thread (asyncio.to_thread, run_in_executor); not supported"
        )

    def _run_once(self) -> None:
        """As a real one: wait if nobody can go on, then let go on who can."""
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
            beside is not self.fiber and not isinstance(beside.request, Done | Failed)
            for beside in self.actor.fibers
        )
        until = NEVER
        if timers:
            if len(timers) == 1 and not others:
                # This is but a sleep of the work.
                threads.sleep((moment(timers[0]) - self.actor.look_at_clock()) / 1000)
                self._due(1)
                return
            until = moment(timers[0])
        for flight in self.flights:
            flight.show()
        self.waits = True
        woken = ask(Rest(until))
        self.waits = False
        # A reply that comes when the time is over, too: who is first, the search has said.
        if not woken:
            now = self.actor.look_at_clock()
            self._due(sum(moment(timer) <= now for timer in timers))

    def _due(self, many: int) -> None:
        for _ in range(many):
            timer = heapq.heappop(self._scheduled)
            timer._scheduled = False  # type: ignore[attr-defined]
            self._ready.append(timer)

    def _forget(self) -> None:
        """Tasks that are done; but what was refused in one ends all."""
        for task in self.tasks:
            if task.done() and isinstance(error := task._exception, user_code_error.UserCodeError):
                raise error
        self.tasks = [task for task in self.tasks if not task.done()]

    def _process_events(self, _: Any) -> None:
        """There are none."""

    def _write_to_self(self) -> None:
        """Another thread of the actor has something for it."""
        self.wake()


def moment(timer: asyncio.TimerHandle) -> int:
    """ms since 1970."""
    return round(timer.when() * 1000) + BOOTED


def run(coroutine: Coroutine[Any, Any, Any]) -> Any:
    """As asyncio.run."""
    with asyncio.Runner(loop_factory=Loop) as runner:
        return runner.run(coroutine)
