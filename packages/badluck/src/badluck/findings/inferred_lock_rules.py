"""Rules about locks that were inferred from a user's code."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from badluck.findings import lock_rules
from badluck.findings.judge import Judge
from badluck.findings.lock_tracker import TrackedLock
from badluck.rule import GraphRule, Rule
from badluck.search.paths import Goal, Path


def _of_each(places: Callable[[TrackedLock], set[Goal]]) -> Callable[[Judge], set[Goal]]:
    return lambda judge: {place for lock in judge.lock_tracker.locks for place in places(lock)}


def _like(rule: Rule, where: Callable[[Judge], set[Goal]]) -> GraphRule:
    return GraphRule(rule.name, rule.explanation, where)


def _left_behind(judge: Judge) -> set[Goal]:
    graph, left = judge.graph, judge.lock_tracker.left(ends=True, crashed=False)
    return {at for at in left if graph.undisturbed(graph.states[at])}


def _leaked(judge: Judge) -> set[Goal]:
    """Find leaked locks; where others wait for one forever, that finding says it better."""
    waits = judge.graph.all_seen and judge.stuck
    return {*judge.lock_tracker.left(ends=False, crashed=not waits)}


def on_some_way(judge: Judge, found: Mapping[str, Path]) -> dict[str, Path]:
    """Find deletions that no state shows: with equal lock values, one state has two owners."""
    rules = {rule.name for rule in judge.target.rules}
    of_holders = {DELETED_BY_ANOTHER.name, TWO_HOLDERS.name}
    if judge.target.code.shown or DELETED_BY_ANOTHER.name not in rules or of_holders & {*found}:
        return {}
    path = judge.lock_tracker.deleted_on_some_way()
    return {DELETED_BY_ANOTHER.name: path} if path else {}


def unseen(judge: Judge, found: bool) -> str:
    """Say why nothing is known of the named lock; "" if something is.

    `found`: there is a finding, or the search was incomplete.
    """
    if TWO_HOLDERS not in judge.target.rules:
        return ""
    key, servers = (
        (judge.target.lock_key or b"").decode(errors="replace"),
        judge.lock_tracker.servers_of_named,
    )
    if len(servers) > 1:
        return f"lock={key!r} is a key of several servers, and none of them tells who holds it"
    if not servers and not found:
        return f"lock={key!r} is a key that no text is ever written to; is it spelt so?"
    return ""


TWO_HOLDERS = _like(lock_rules.TWO_HOLDERS, _of_each(lambda lock: lock.two_inside))
DELETED_BY_ANOTHER = _like(lock_rules.DELETED_BY_ANOTHER, _of_each(lambda lock: lock.deleted))
LEFT_BEHIND = _like(lock_rules.LEFT_BEHIND, _left_behind)
LEAKED = _like(lock_rules.LEAKED, _leaked)
OF_ANY = {DELETED_BY_ANOTHER.name, LEAKED.name}  # rules of locks that the user has not named
