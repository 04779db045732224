"""Explore functions as they stand in a test, in a child of its process."""

from __future__ import annotations

import ast
import gc
import inspect
import json
import os
import signal
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from functools import cache
from importlib.util import resolve_name
from pathlib import Path
from types import FrameType
from typing import Any, Literal, NoReturn

from greenlet import getcurrent

from badluck.actor.actor import Fiber
from badluck.errors import BadCode, BadluckError
from badluck.faults import NONE
from badluck.functions.client_tuple import require_count
from badluck.functions.function_target import NO_LOCK, FunctionTarget
from badluck.functions.parallel_searches import side_by_side
from badluck.functions.project_modules import in_project
from badluck.functions.rebinding import containers
from badluck.functions.result import ExploreResult
from badluck.functions.search_rounds import ANY, SearchRound, plan_rounds, starting_order
from badluck.functions.shared_variables import refuse_shared
from badluck.functions.signature import Function, count_arguments, function_name
from badluck.orphans import end_with_parent
from badluck.sandbox.client import parse_report
from badluck.sandbox.job import ExploreJob, Job
from badluck.sandbox.limits import SEARCH_S
from badluck.search.names import LETTERS


@cache
def imported_for_their_effect(file: str | None, package: str) -> Sequence[str]:
    """Of the project's, those of whose names nothing in that file makes use."""
    if not in_project(file):
        return ()
    tree = ast.parse(Path(str(file)).read_bytes())
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    used |= {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}  # fixtures
    found = dict.fromkeys(_unused(tree.body, package, used))
    return [name for name in found if in_project(getattr(sys.modules.get(name), "__file__", None))]


def _unused(statements: Sequence[ast.stmt], package: str, used: set[str]) -> Iterator[str]:
    """By statements that run when the file is imported."""
    for one in statements:
        if isinstance(one, ast.Import):
            for name in one.names:
                if (name.asname or name.name.partition(".")[0]) not in used:
                    yield name.name
        elif isinstance(one, ast.ImportFrom):
            home = resolve_name("." * one.level + (one.module or ""), package)
            for name in one.names:
                if (name.asname or name.name) not in used:
                    yield from (home, f"{home}.{name.name}")
        elif isinstance(one, ast.If | ast.Try | ast.With):
            yield from _unused(one.body, package, used)


OURS = "badluck."  # modules
LOOK = "must take a client, or a client and what actors were told"
USUAL, LADDER = (2,), (2, 3)  # actors, when nobody says how many


def explore(
    *,
    actors: Sequence[Function] = (),
    actor: Function | None = None,
    count: int | Sequence[int] | None = None,
    setup: Callable[[Any], object] | None = None,
    invariant: Function | None = None,
    at_end: Function | None = None,
    faults: str = NONE,
    seconds: int = SEARCH_S,
    client_retries: bool = False,
    decode_responses: bool = False,
    servers: int = 1,
    lock: str | Literal[False] | None = None,
    before: Callable[[Mapping[int, FunctionTarget], Sequence[SearchRound]], object] | None = None,
) -> ExploreResult:
    """Every order of the steps of `actors`, or of `count` that all do what `actor` does.

    Each is called with a client, of redis.asyncio if it is `async def`, and with its name if it
    takes two arguments. `setup` is given a client beforehand. `invariant` is asked after every
    step, `at_end` when all have ended: with a client that reads and, if it takes two arguments,
    with the actors' answers by name. `client_retries`: the clients send a command again after an
    error, as redis-py does by default. All clients have `decode_responses`, as redis-py's. Of
    several `servers` all functions get a tuple of clients.
    `lock` is a key that is to keep all but its holder out: with two holders it fails; False: none
    of the keys is a lock, whatever is done to it.

    `count` may be several: (2, 3). `faults` are how many of each kind may happen, or "any": two of
    whatever kind, and of 2 actors and 3. Likely orders come first (see search_rounds.py), until
    something is found or `seconds` are over. Raises BadCode for what is wrong with the functions.
    `before` is told what will be searched, by the number of actors, and within which budgets; what
    it raises ends that.
    """
    if actor and actors:
        raise BadluckError("actor=f says what all do, actors=[f, g] what each does: not both.")
    if callable(actors):
        raise BadluckError("actors are a list: actors=[f, g], or actor=f and count=2.")
    counts = _counts(count, faults) if actor else (len(actors),)
    functions = [actor] * max(counts) if actor else list(actors)
    require_count(servers)
    if not isinstance(faults, str):
        raise BadluckError(f"faults are a text, like 'crash=1,pause=1', and not {faults!r:.60}.")
    _refuse(functions, [one for one in (setup, invariant, at_end) if one])
    if setup and count_arguments(setup) == 2:
        raise BadCode(
            f"{function_name(setup)} must take a client, and nothing else: it is the setup"
        )
    names = _callers_names()
    reads = {name for function in functions for name in containers(function, names)}
    for looks in filter(None, (invariant, at_end)):
        refuse_shared(functions, looks)
    key = NO_LOCK if lock is False else lock.encode() if lock else None
    settings = (setup, invariant, at_end, client_retries, decode_responses, key)
    imports = imported_for_their_effect(names.get("__file__"), names.get("__package__") or "")
    targets = {
        many: FunctionTarget(
            functions[:many],
            *settings,
            servers=servers,
            imports=imports,
            reads=(names.get("__name__", ""), sorted(reads)),
        )
        for many in counts
    }
    rungs = plan_rounds(counts, faults)
    if before:
        before(targets, rungs)
    jobs = [ExploreJob(targets[many], many, (budget,), seconds) for many, budget in rungs]
    with closing(side_by_side(jobs, starting_order(rungs), _explore, seconds)) as answers:
        for rung, answer in zip(rungs, answers, strict=False):
            report = parse_report(targets[rung.actors], answer)
            if report.findings or not report.exhaustive:
                break
    return ExploreResult(report, rungs)


def _counts(count: int | Sequence[int] | None, faults: str) -> Sequence[int]:
    if count is None:
        return LADDER if faults == ANY else USUAL
    return (count,) if isinstance(count, int) else tuple(count)


def _callers_names() -> dict[str, Any]:
    """Of the module that asks; our plugin asks for a test."""
    frame: FrameType | None = sys._getframe(1)
    while frame and frame.f_globals["__name__"].startswith(OURS):
        frame = frame.f_back
    return frame.f_globals if frame else {}


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
            raise BadCode(f"{function_name(function)} must be a function without yield")
        if function in others and inspect.iscoroutinefunction(function):
            raise BadCode(f"{function_name(function)} must be a plain function, without async")
        try:
            count_arguments(function)
        except TypeError as error:
            text = "must take a client, or a client and a name" if function in functions else LOOK
            raise BadCode(f"{function_name(function)} {text}: {error}") from error


def forked(job: Job) -> dict[str, Any]:
    """What one job by itself comes to, in a child. Raises as explore()."""
    seconds = job.seconds if isinstance(job, ExploreJob) else SEARCH_S
    with closing(side_by_side([job], [0], _explore, seconds)) as answers:
        return next(answers)


def _explore(job: Job, output: int) -> NoReturn:
    try:
        # Which nobody else has to load.
        from badluck.functions.schedule_check import ScheduleCheck
        from badluck.sandbox.actor_process import open_descriptors, silence

        gc.freeze()  # what our parent holds is not ours to collect
        os.setsid()  # Ctrl-C is for our parent, who ends us
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})  # by it servers are stopped
        end_with_parent()
        silence(*open_descriptors(output))  # also our parent's connections
        sys.stdout = sys.stderr = open(os.devnull, "w")  # noqa: SIM115  pytest has its own
        sys.settrace(None)
        ScheduleCheck(job, output).run()
    except BaseException as error:  # noqa: BLE001  our parent is to know
        failed = f"{job.target.name}: {type(error).__name__}: {error}"
        os.write(output, json.dumps({"failed": failed}).encode())
    finally:
        os._exit(1)  # nothing of our parent's is cleaned up here
