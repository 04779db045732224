"""Rules about locks."""

from __future__ import annotations

from functools import cache

from badluck.actor.request import Rest, Send
from badluck.rule import Ending, EndRule, StateRule, StepRule, StepView, View
from badluck.search.state import CRASHED

PROLONG = (b"EXPIRE", b"PEXPIRE", b"PERSIST")


def _two_inside(view: View) -> bool:
    return bool(view.target.locks) and view.answers.inside > 1


TWO_HOLDERS = StateRule(
    "two holders",
    "Two actors are in the critical section at the same time.",
    _two_inside,
)


@cache
def _owner(lock: bytes, names: tuple[str, ...]) -> str | None:
    """Return the actor that owns the token, if it is one."""
    return next((name for name in names if lock.startswith(f"token-{name}".encode())), None)


def _anothers(taken: StepView) -> bool:
    """Did another actor hold the lock before this step?"""
    lock = taken.before.lock
    owner = _owner(lock.value, taken.graph.names) if lock else None
    return owner is not None and owner != taken.mover


def _deletes(taken: StepView) -> bool:
    return _anothers(taken) and taken.after.lock is None


DELETED_BY_ANOTHER = StepRule(
    "lock deleted by another",
    "An actor deleted a lock that another actor held.",
    ("goes", "arrives"),
    _deletes,
)


def _prolongs(taken: StepView) -> bool:
    if not _anothers(taken):
        return False
    before, after = taken.before.lock, taken.after.lock
    if after is None or taken.afterwards(before.value) != after.value:
        return False
    # Also at the very ms of the expiry: it is luck that this changes nothing.
    request, key = taken.asked, taken.target.lock_key
    asks_to_prolong = isinstance(request, Send) and any(
        command[0] in PROLONG and command[1] == key for command in request.commands
    )
    return asks_to_prolong or before.until != after.until


RENEWED_BY_ANOTHER = StepRule(
    "lock renewed by another",
    "An actor renewed a lock that another actor held.",
    ("goes", "arrives"),
    _prolongs,
)


def _all_wait(taken: StepView) -> bool:
    """Can no actor do anything except wait for a lock?"""
    if taken.target.lock_key is None or not taken.graph.undisturbed(taken.state):
        return False
    automata = taken.graph.automata
    return not any(
        at != CRASHED and isinstance(automaton.nodes[at].requests[0], Rest)
        for automaton, at in zip(automata, taken.state.nodes, strict=True)
    )


STALLED = StepRule(
    "stalled",
    "Without any fault, all actors wait for a timeout: none of them can continue before it.",
    ("time",),
    _all_wait,
)


def _stays_for_a_while(end: Ending) -> bool:
    lock = end.view.book.lock
    return lock is not None and lock.ends and end.undisturbed


LEFT_BEHIND = EndRule(
    "lock left behind",
    "All actors are done and there was no fault, but the lock stays held until its lease ends.",
    _stays_for_a_while,
)


def _stays_for_ever(view: View) -> bool:
    lock = view.book.lock
    return view.answers.over and lock is not None and not lock.ends


LEAKED = StateRule(
    "lock leaked",
    "All actors are done, but the lock is still held and never expires.",
    _stays_for_ever,
)
