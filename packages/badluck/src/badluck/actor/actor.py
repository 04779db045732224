"""An actor: real code in fibers, each of which stops before every command that it sends.

A fiber is a greenlet: a switch costs a third of a microsecond, and a crashed one is never resumed,
so that no `finally` of its own runs.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from itertools import count
from types import FrameType, ModuleType
from typing import Any, NamedTuple, Protocol, cast

import redis
from greenlet import GreenletExit, getcurrent, greenlet

from badluck.actor.command_text import CommandText
from badluck.actor.request import NEVER, Done, Failed, Hear, Request, Rest, Send

BOOTED = 1_899_900_000_000  # ms since 1970: when clocks that only count began to do so
LONG_SLEEP_S = 1.0  # s; no poll and no backoff sleeps for so long
EXITS = 20
PARKED: list[Fiber] = []  # never resumed; kept, since collecting one would run it


class Files(NamedTuple):
    """The files whose lines error messages name."""

    name: str  # of all of them
    own: Callable[[str], bool]  # does that path belong to one of them?

    def innermost(self, frame: FrameType | None) -> FrameType | None:
        """Return the first frame of these files, from `frame` outward."""
        while frame and not self.own(frame.f_code.co_filename):
            frame = frame.f_back
        return frame


class Code(NamedTuple):
    """Modules are named by how their names begin: `app.modes.`"""

    work: Callable[[Actor], str]  # runs to its end; returns the outcome
    errors: tuple[type[BaseException], ...] = ()  # besides redis-py's: they give the outcome ERROR
    section: str = ""  # the function that only the lock's holder may be in
    shown: tuple[str, ...] = ()  # modules whose lines are shown; the first, where work begins
    harness: tuple[str, ...] = ()  # modules of the test harness: what they hold decides nothing
    counters: tuple[type, ...] = ()  # nor what these hold, and it changes at every poll
    words: CommandText = CommandText()
    keys: tuple[bytes, ...] = ()  # known in advance, besides the keys of the setup: not typos
    files: Files = Files("the code", lambda _: False)


class EventLoop(Protocol):
    """The part of an asyncio loop that an actor uses; see event_loop.py."""

    fiber: Fiber  # in which it runs

    def suspended(self) -> AbstractContextManager[None]:
        """Unset the running loop while another fiber runs in the same system thread."""

    def abandon(self) -> None:
        """End its tasks: the actor is over."""

    def is_closed(self) -> bool: ...


class Fiber(greenlet):
    """One line of execution of an actor: its work, or an additional thread."""

    def __init__(self, actor: Actor, run: Callable[..., Request], request: Request) -> None:
        super().__init__(run)
        self.actor = actor
        self.request = request
        self.woken = False  # its wait is over: it resumes in the same step as the other fibers
        self.told_in = 0  # the number of the fiber that gets its answers; 0: its own
        self.exits = 0  # how often it got GreenletExit
        self.started: tuple[str, int] | None = None  # of a thread: the line that started it
        self.outlives = False  # continues after the work has ended
        self.loop: EventLoop | None = None  # the asyncio loop that runs in it
        self.thread: Any = None  # what threading.current_thread() says in it

    @property
    def frame(self) -> FrameType | None:
        """Return the innermost frame that waits here."""
        return self.gr_frame

    def go_on(self, *answer: Any) -> None:
        self.parent = getcurrent()  # the caller, which searches now
        self.request = self.switch(*answer)


def here() -> Fiber:
    """Return the fiber that is running."""
    return cast(Fiber, getcurrent())


def ask(request: Request) -> Any:
    """Stop this fiber until the search knows the answer."""
    fiber = here()
    if fiber.actor.over or fiber.parent is None:
        fiber.exits += 1
        if fiber.exits > EXITS and fiber.parent is not None:
            PARKED.append(fiber)  # `except:` in a loop catches this, too: it would never end
            return fiber.parent.switch(request)
        raise GreenletExit  # its last steps on the way out are not part of the search
    if fiber.loop is None:
        return fiber.parent.switch(request)
    with fiber.loop.suspended():
        return fiber.parent.switch(request)


class Actor:
    """One process of the search. `requests` is what each of its fibers waits for."""

    def __init__(
        self, name: str, code: Code, now: int, modules: Mapping[str, ModuleType] | None = None
    ) -> None:
        """`now` in ms since 1970; `modules` are its code's, which it does not import again."""
        self.name = name
        self.code = code
        self.clock = ActorClock(self)
        self.now = now
        self.looked = False  # at the clock, since it went on last
        self.asked_time = False  # its own code did, and not only to sleep
        self.slept = 0.0  # s, since it went on last
        self.begins_late = False  # may others have worked for long before it looks at the clock?
        self.counts_time = False  # has its own code ever asked the clock? It may count from there
        self.tells_time = False  # has it, and not only for a wait of the standard library's?
        self.over = False  # never resumed again
        self.tokens = self.connections = self.pools = 0
        self.taken: frozenset[int] | None = None  # tokens of mine that are in use, if that is known
        self.drew = False  # a token, since it went on last
        self.draws = 0  # of chance, since it went on last
        # Its own, by name: what its code keeps outside of its frames.
        self.modules = dict(modules or {})
        self.heard: tuple[Request, Any] | None = None  # the last request, and its answer
        self.open: set[str] = set()  # connections
        self.bound: set[str] = set()  # those that have left state with their servers
        self.closed: list[str] = []  # since it went on last
        self.loops: list[EventLoop] = []  # of asyncio, also those that have ended

        expected: tuple[type[BaseException], ...] = (redis.RedisError, *code.errors)

        def run() -> Request:
            try:
                return Done(code.work(self))
            except expected as error:  # anything else is an error of the code
                return Failed(f"{type(error).__name__}: {error}")

        self.fibers = [Fiber(self, run, Rest(now))]
        self._switch(0)

    @property
    def requests(self) -> tuple[Request, ...]:
        return tuple(fiber.request for fiber in self.fibers)

    def go_on(self, fiber: int, answer: Any, now: int, taken: frozenset[int] | None = None) -> None:
        """Give one fiber its answer, and run until it waits again.

        `taken` are the numbers of its tokens that are in use; None: each token is a new one.
        """
        self.now, self.looked, self.closed = now, False, []
        self.asked_time, self.slept = False, 0.0
        self.taken, self.drew = taken, False
        self.draws, self.heard = 0, (self.fibers[fiber].request, answer)
        self._switch(fiber, answer)

    def _switch(self, fiber: int, *answer: Any) -> None:
        with self._in_its_process():
            self.fibers[fiber].go_on(*answer)
            while woken := [other for other in self.fibers if other.woken]:
                woken[0].woken = False
                woken[0].go_on(True)
        if isinstance(self.fibers[0].request, Done | Failed):
            for other in self.fibers[1:]:  # a renewal does not outlive the work
                if isinstance(other.request, Rest) and not other.outlives:
                    other.request = Done("")

    @property
    def waits_for_threads(self) -> bool:
        """Would its process end, except for threads that it waits for, and that have more to do?"""
        return isinstance(self.fibers[0].request, Done | Failed) and any(
            fiber.outlives and not fiber.thread.daemon and _has_more_to_do(fiber.request)
            for fiber in self.fibers[1:]
        )

    def end(self, outcome: str) -> None:
        """End the whole actor after an exception in one of its threads: no fiber continues."""
        for fiber in self.fibers:
            fiber.woken, fiber.request = False, Done("")
        self.fibers[0].request = Done(outcome)

    def inside(self) -> bool:
        """Is it in the critical section?"""
        frame = self.fibers[0].gr_frame
        while frame is not None:
            if frame.f_code.co_name == self.code.section:
                return True
            frame = frame.f_back
        return False

    def drop(self) -> None:
        """Abandon the actor: its greenlets end, and none is resumed."""
        self.over = True
        with self._in_its_process():
            for fiber in self.fibers:
                if not fiber.dead:  # also one that has not begun: its function holds the actor
                    fiber.parent = getcurrent()
                    fiber.throw(GreenletExit)
            for loop in self.loops:
                loop.abandon()

    @contextmanager
    def _in_its_process(self) -> Iterator[None]:
        """Its code finds its own modules imported, and those of no other actor.

        Garbage waits until the code stops: its finalizers may look at the clock, and the search
        would take that for a question of this actor.
        """
        collects = gc.isenabled()
        try:
            gc.disable()
            sys.modules.update(self.modules)
            yield
        finally:
            if collects:
                gc.enable()
            for name in self.modules:
                sys.modules.pop(name, None)

    def look_at_clock(self) -> int:
        self.looked = True
        return self.now

    @property
    def uptime(self) -> int:
        """Return the time of a monotonic clock, in ms."""
        return self.now - BOOTED

    def ask_clock(self, of_a_wait: bool = False) -> int:
        """Return the time in ms. For a user's code that does nothing before it, this is a step of
        its own.

        `of_a_wait`: the standard library asks, which only counts from that time and may hold a
        lock.
        """
        if self.begins_late and self.heard is None and not of_a_wait:
            ask(Rest(self.now, "looks at the clock"))
        self.asked_time = self.counts_time = True
        return self.look_at_clock()

    def token(self) -> str:
        """Return a new token, or one that is neither in use nor the one before."""
        self.drew = self.taken is not None
        in_use = self.taken if self.taken is not None else range(self.tokens + 1)
        numbers = (number for number in count(1) if number not in in_use)
        self.tokens = next(number for number in numbers if number != self.tokens)
        return f"token-{self.name}{self.tokens}"

    def new_connection(self, server: int) -> str:
        self.connections += 1
        name = f"{server}{self.name}{self.connections}"
        self.open.add(name)
        return name

    def hang_up(self, connection: str) -> None:
        self.open.discard(connection)
        self.bound.discard(connection)
        self.closed.append(connection)

    def begin(self, thread: Fiber) -> None:
        """Start a thread next to the actor's other fibers.

        It takes the place of a thread that has ended. Otherwise a timer that starts the next timer
        would never lead back to an earlier state.
        """
        for number, fiber in enumerate(self.fibers[1:], 1):
            if fiber.dead:
                self.fibers[number] = thread
                return
        self.fibers.append(thread)

    def every(self, ms: int, deed: Callable[[], bool]) -> Callable[[], None]:
        """Run `deed` every `ms` in a fiber, until it returns False. Return a function that stops
        it.
        """

        def run(_: None = None) -> Request:
            while deed() and not stopped:
                ask(Rest(self.look_at_clock() + ms))
            return Done("")

        stopped: list[bool] = []
        fiber = Fiber(self, run, Rest(self.look_at_clock() + ms))
        self.fibers.append(fiber)

        def stop() -> None:
            stopped.append(True)
            if isinstance(fiber.request, Rest):
                fiber.request = Done("")

        return stop


def _has_more_to_do(request: Request) -> bool:
    """Can it go on without waiting for another thread? An idle pool's may wait forever."""
    if isinstance(request, Rest):
        return request.until < NEVER
    return isinstance(request, Send | Hear)


class ActorClock:
    """Time and random numbers as the search controls them.

    A short sleep takes no time. The search may delay an actor that sleeps while it works, and need
    not run an actor that sleeps until something changes. A sleep of LONG or more counts as work:
    without a fault, time passes until the work is done, and its renewals come when they are due.
    """

    def __init__(self, actor: Actor) -> None:
        self.actor = actor

    def now(self) -> float:
        return self.actor.look_at_clock() / 1000

    def wall(self) -> float:
        self.actor.tells_time = True
        return self.now()

    def sleep(self, seconds: float) -> None:
        if seconds >= LONG_SLEEP_S:
            ask(Rest(self.actor.look_at_clock() + round(seconds * 1000)))

    def random(self) -> float:
        return 0.5

    def token(self) -> str:
        return self.actor.token()

    def every(self, seconds: float, deed: Callable[[], bool]) -> Callable[[], None]:
        return self.actor.every(round(seconds * 1000), deed)
