"""Explore functions as they are in a test, in a child of its process."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from typing import Any, Literal

from greenlet import getcurrent

from badluck.actor.actor import Fiber
from badluck.errors import BadCode, BadluckError
from badluck.faults import NONE
from badluck.functions.calling_module import caller_variables, containers, unused_imports
from badluck.functions.function_target import NO_LOCK, FunctionTarget
from badluck.functions.parallel_searches import side_by_side
from badluck.functions.result import ExploreResult
from badluck.functions.search_process import answer_job
from badluck.functions.search_rounds import ANY, SearchRound, plan_rounds, starting_order
from badluck.functions.shared_variables import refuse_shared
from badluck.functions.signature import Function, count_arguments, function_name
from badluck.report.report import Report
from badluck.sandbox.client import parse_report
from badluck.sandbox.job import ExploreJob
from badluck.sandbox.limits import SEARCH_S
from badluck.search.names import LETTERS

MAX_SERVERS = 5  # as the description of Redlock has them


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
    """Explore every order of the steps of `actors`, or of `count` actors that all call `actor`.

    Each is called with a client, of redis.asyncio if it is `async def`, and with its name if it
    takes two arguments. `setup` is given a client beforehand. `invariant` is called after every
    step, `at_end` when all have ended: with a client that reads and, if it takes two arguments,
    with the actors' answers by name. `client_retries`: the clients send a command again after an
    error, as redis-py does by default. All clients have `decode_responses`, as redis-py's. Of
    several `servers` all functions get a tuple of clients. `lock` is a key that must keep all
    except its holder out: with two holders it fails; False: no key is a lock, whatever the commands
    on it.

    `count` may be several: (2, 3). `faults` are how many of each kind may happen, or "any": two of
    whatever kind, and of 2 actors and 3. Likely orders come first (see search_rounds.py), until
    something is found or `seconds` are over. Raises BadCode for an error in the functions. `before`
    is called with what will be searched, by the number of actors, and with which budgets; an
    exception from it ends the search.
    """
    functions, counts = _functions(actors, actor, count, faults)
    target = FunctionTarget(
        actors=functions,
        prepare=setup,
        invariant=invariant,
        at_end=at_end,
        client_retries=client_retries,
        decode_responses=decode_responses,
        lock_key=NO_LOCK if lock is False else lock.encode() if lock else None,
        servers=servers,
    )
    _require_valid(target, faults)
    target = _with_test_module(target)
    targets = {many: replace(target, actors=target.actors[:many]) for many in counts}
    rounds = plan_rounds(counts, faults)
    if before:
        before(targets, rounds)
    return ExploreResult(_search(targets, rounds, seconds), rounds)


def _search(
    targets: Mapping[int, FunctionTarget], rounds: Sequence[SearchRound], seconds: int
) -> Report:
    """Return the report of the first round that fails or is not exhaustive; else of the last."""
    jobs = [ExploreJob(targets[many], many, (budget,), seconds) for many, budget in rounds]
    order = starting_order(rounds)
    with closing(side_by_side(jobs, order, answer_job, seconds)) as answers:
        for (many, _), answer in zip(rounds, answers, strict=False):
            report = parse_report(targets[many], answer)
            if report.findings or not report.exhaustive:
                break
    return report


def _functions(
    actors: Sequence[Function],
    actor: Function | None,
    count: int | Sequence[int] | None,
    faults: object,
) -> tuple[Sequence[Function], Sequence[int]]:
    """Return the actors of the largest round, and how many of them each search has."""
    if actor and actors:
        raise BadluckError("actor=f says what all do, actors=[f, g] what each does: not both.")
    if callable(actors):
        raise BadluckError("actors are a list: actors=[f, g], or actor=f and count=2.")
    if actor is None:
        return list(actors), (len(actors),)
    if count is None:
        count = (2, 3) if faults == ANY else 2
    counts = (count,) if isinstance(count, int) else tuple(count)
    return [actor] * max(counts), counts


def _with_test_module(target: FunctionTarget) -> FunctionTarget:
    """Add what the calling test's module imports and holds. Raises BadCode for shared variables."""
    names = caller_variables()
    reads = {name for function in target.actors for name in containers(function, names)}
    for check in filter(None, (target.invariant, target.at_end)):
        refuse_shared(target.actors, check)
    return replace(
        target,
        imports=unused_imports(names.get("__file__"), names.get("__package__") or ""),
        reads=(names.get("__name__", ""), sorted(reads)),
    )


def _require_valid(target: FunctionTarget, faults: object) -> None:
    """Raises BadCode for a function, BadluckError for another argument."""
    if isinstance(getcurrent(), Fiber):
        raise BadluckError("A module that explores when it is imported explores without end.")
    if not 1 <= len(target.actors) <= len(LETTERS):
        raise BadluckError(f"1 to {len(LETTERS)} actors can be explored, not {len(target.actors)}.")
    if not 1 <= target.servers <= MAX_SERVERS:
        raise BadluckError(f"1 to {MAX_SERVERS} servers can be had, not {target.servers}.")
    if not isinstance(faults, str):
        raise BadluckError(f"faults are a text, like 'crash=1,pause=1', and not {faults!r:.60}.")
    for actor in target.actors:
        _require_callable(actor, "must take a client, or a client and a name")
    for check in filter(None, (target.prepare, target.invariant, target.at_end)):
        _require_callable(check, "must take a client, or a client and what actors returned")
        if inspect.iscoroutinefunction(check):
            raise BadCode(f"{function_name(check)} must be a plain function, without async")
    if target.prepare and count_arguments(target.prepare) == 2:
        name = function_name(target.prepare)
        raise BadCode(f"{name} must take a client, and nothing else: it is the setup")


def _require_callable(function: Any, parameters: str) -> None:
    if not callable(function):
        raise BadCode(f"{function!r:.60} cannot be called")
    if inspect.isasyncgenfunction(function) or inspect.isgeneratorfunction(function):
        raise BadCode(f"{function_name(function)} must be a function without yield")
    try:
        count_arguments(function)
    except TypeError as error:
        raise BadCode(f"{function_name(function)} {parameters}: {error}") from error
