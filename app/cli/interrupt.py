"""Ctrl-C: one line, exit status 130, and nothing that was begun is left behind."""

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
AGAIN = 0.001  # s until an interrupt that was thrown away is raised again
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
    """In here a Ctrl-C raises KeyboardInterrupt, wherever it is.

    What is raised in a destructor Python throws away: then it is raised again a moment later.
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
    """In here a Ctrl-C, or another word to end, is noted, and counts when all was left in order.

    For what brings up servers: an exception at any moment could leave one behind. Gives a question,
    to be asked now and then: is it time to leave?
    """
    noted: list[int] = []
    before = {
        number: signal.signal(number, lambda number, _: noted.append(number)) for number in TO_END
    }
    try:
        yield lambda: bool(noted)
    except ShopError:
        if not noted:  # what the same Ctrl-C has reached, a compiler, is no news
            raise
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    if noted:
        raise KeyboardInterrupt


def told_to_stop(*numbers: int) -> threading.Event:
    """An event that these signals set. For the main thread.

    Not in their handler: a second signal that interrupts it would wait for a lock that the first
    one holds, and with it all who wait for the event. A parent with threads that is killed sends
    several.
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
    """Ends what is searched, and not a buyer.

    Thrown into a buyer's code it would run its `finally` and its `except`, and the search would
    take what they send for what that code always does.
    """
    signal.signal(SIGINT, signal.SIG_IGN)  # a second one must not interrupt the leaving
    outermost = getcurrent()
    while outermost.parent is not None:
        outermost = outermost.parent
    outermost.throw(KeyboardInterrupt)
