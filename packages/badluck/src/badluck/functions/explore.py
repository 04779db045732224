"""Explore functions as they stand in a test, in a child of its process."""

from __future__ import annotations

import gc
import inspect
import json
import os
import select
import signal
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import redis
from greenlet import getcurrent

from badluck.actor.fiber import Fiber
from badluck.errors import BadCode, BadluckError
from badluck.faults import NONE, Faults
from badluck.functions.anew import refuse_shared
from badluck.functions.calls import Function, arguments, called
from badluck.functions.functions import Functions
from badluck.functions.result import Result
from badluck.orphans import end_with_parent
from badluck.run.apart import START, answered, read
from badluck.run.job import Explore
from badluck.run.limits import SEARCH, SHOWING
from badluck.search.names import LETTERS


def explore(
    *,
    actors: Sequence[Function] = (),
    actor: Function | None = None,
    count: int = 2,
    setup: Callable[[redis.Redis], object] | None = None,
    invariant: Function | None = None,
    at_end: Function | None = None,
    faults: str = NONE,
    seconds: int = SEARCH,
    resend: bool = False,
) -> Result:
    """Every order of the steps of `actors`, or of `count` that all do what `actor` does.

    Each is called with a client, of redis.asyncio if it is `async def`, and with its name if it
    takes two arguments. `setup` is given one
    beforehand. `invariant` is asked after every step, `at_end` when all have come to an end: with a
    client that reads, and with what actors have answered, by name, if it takes two. `resend`: the
    actors' clients send again what was not answered, as redis-py does by default.

    First without a fault, then with `faults` of each kind by itself, then with all of them, until
    something is found or `seconds` are over. Raises BadCode for what is wrong with the functions.
    """
    functions = [actor] * count if actor else list(actors)
    _refuse(functions, [one for one in (setup, invariant, at_end) if one])
    for function in functions:
        refuse_shared(function, sys._getframe(1).f_globals)
    target = Functions(functions, setup, invariant, at_end, resend)
    job = Explore(target, len(functions), ladder(Faults.parse(faults)), seconds)
    return Result(read(target, _forked(job)), job.ladder)


def ladder(faults: Faults) -> tuple[Faults, ...]:
    """Budgets from the most likely to the least: none, each kind by itself, all."""
    each = (Faults(**{kind: many}) for kind, many in faults._asdict().items() if many)
    return tuple(dict.fromkeys((Faults(), *each, faults)))


def _refuse(functions: Sequence[Any], others: Sequence[Any]) -> None:
    """Raises BadCode, or BadluckError for what is no question at all."""
    if isinstance(getcurrent(), Fiber):
        raise BadluckError("A module that explores when it is imported explores without end.")
    if not 1 <= len(functions) <= len(LETTERS):
        raise BadluckError(f"1 to {len(LETTERS)} actors can be explored, not {len(functions)}.")
    for function in (*functions, *others):
        if not callable(function):
            raise BadCode(f"{function!r:.60} cannot be called")
        if inspect.isasyncgenfunction(function) or inspect.isgeneratorfunction(function):
            raise BadCode(f"{called(function)} must be a function without yield")
        if function in others and inspect.iscoroutinefunction(function):
            raise BadCode(f"{called(function)} looks at all at once: a function without async")
        try:
            arguments(function)
        except TypeError as error:
            raise BadCode(f"{called(function)} takes one argument, or two: {error}") from error


def _forked(job: Explore) -> dict[str, Any]:
    """A child has all that stands here, and what it does to it nobody else sees."""
    reads, writes = os.pipe()
    with warnings.catch_warnings():
        # From Python 3.12 on, of threads: the child goes on with none of them.
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        os.close(reads)
        _explore(job, writes)
    os.close(writes)
    try:
        output = _all_of(reads, START + job.seconds + SHOWING)
    finally:
        os.close(reads)
        os.kill(child, signal.SIGKILL)  # it has said all, or is late
        _, status = os.waitpid(child, 0)
    return answered(job.target.name, os.waitstatus_to_exitcode(status), output)


def _explore(job: Explore, output: int) -> NoReturn:
    try:
        from badluck.run.sandbox import Sandbox, silence  # which nobody else has to load

        gc.freeze()  # what our parent holds is not ours to collect
        os.setsid()  # Ctrl-C is for our parent, who ends us
        end_with_parent()
        silence(0, 1, 2)
        sys.stdout = sys.stderr = open(os.devnull, "w")  # noqa: SIM115  pytest has its own
        sys.settrace(None)
        Sandbox(job, output).run()
    except BaseException as error:  # noqa: BLE001  our parent is to know
        failed = f"{job.target.name}: {type(error).__name__}: {error}"
        os.write(output, json.dumps({"failed": failed}).encode())
    finally:
        os._exit(1)  # nothing of our parent's is cleaned up here


def _all_of(reads: int, seconds: float) -> bytes:
    """What comes until it is closed, or the time is over."""
    found, until = b"", time.monotonic() + seconds
    while select.select([reads], [], [], max(0.0, until - time.monotonic()))[0]:
        chunk = os.read(reads, 1 << 16)
        if not chunk:
            break
        found += chunk
    return found
