"""Ctrl-C handling: one line, exit status 130, and nothing that was begun is left behind."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from queue import SimpleQueue
from signal import SIGALRM, SIGINT
from types import FrameType

import click
from greenlet import getcurrent

from app.domain import ShopError

STOPPED = 130  # exit status, as a shell has it for SIGINT
AGAIN = 0.001  # s until a discarded interrupt is raised again
TO_END = (SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextmanager
def ends_at_ctrl_c(said: str) -> Iterator[None]:
    try:
        with heard_at_once():
            yield
    except KeyboardInterrupt:
        click.echo(said, err=True)
        sys.exit(STOPPED)


@contextmanager
def heard_at_once() -> Iterator[None]:
    """Raise KeyboardInterrupt at Ctrl-C anywhere in the block.

    Python discards an exception that is raised in a destructor: it is raised again a moment later.
    """
    handlers = {number: signal.signal(number, _interrupt) for number in (SIGINT, SIGALRM)}
    hook = sys.unraisablehook

    def thrown_away(what: sys.UnraisableHookArgs) -> None:
        if isinstance(what.exc_value, KeyboardInterrupt):
            signal.setitimer(signal.ITIMER_REAL, AGAIN)
        else:
            hook(what)

    sys.unraisablehook = thrown_away
    try:
        yield
    finally:
        sys.unraisablehook = hook
        for number, handler in handlers.items():
            signal.signal(number, handler)


@contextmanager
def held_back() -> Iterator[Callable[[], bool]]:
    """Defer SIGINT and SIGTERM until the block exits cleanly.

    This is for code that starts servers: an exception at any moment could leave one behind. Yields
    a function that the code calls now and then: it returns True when it is time to leave.
    """
    noted: list[int] = []
    before = {
        number: signal.signal(number, lambda number, _: noted.append(number)) for number in TO_END
    }
    try:
        yield lambda: bool(noted)
    except ShopError:
        if not noted:  # an error that the same Ctrl-C caused, in a compiler, is not reported
            raise
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    if noted:
        raise KeyboardInterrupt


def told_to_stop(*numbers: int) -> threading.Event:
    """Return an event that these signals set. Call it in the main thread.

    The handler does not set it: a second signal that interrupts the handler would wait for a lock
    that the first one holds, and so would all threads that wait for the event. A parent with
    threads that is killed sends several signals.
    """
    stop, heard = threading.Event(), SimpleQueue[int]()
    for number in numbers:
        signal.signal(number, lambda number, _: heard.put(number))

    def hear() -> None:
        heard.get()
        stop.set()

    threading.Thread(target=hear, name="told to stop", daemon=True).start()
    return stop


def _interrupt(_: int, __: FrameType | None) -> None:
    """Interrupt the search, but never a buyer's code.

    Thrown into a buyer's code, the exception would run its `finally` and its `except`. The search
    would take the commands that they send for the code's usual behaviour.
    """
    signal.signal(SIGINT, signal.SIG_IGN)  # a second Ctrl-C must not interrupt the exit
    outermost = getcurrent()
    while outermost.parent is not None:
        outermost = outermost.parent
    outermost.throw(KeyboardInterrupt)
