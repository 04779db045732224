"""An exception in a user's code, which is then its actor's outcome."""

from __future__ import annotations

from dataclasses import dataclass

from badluck.actor.request import RAISED
from badluck.rule import StateRule, View


def _raised(view: View) -> bool:
    return any(word.startswith(RAISED) for _, word in view.answers.words)


EXCEPTION = StateRule(
    "exception",
    "An actor's code raised an exception that is not of the connection.",
    _raised,
)


@dataclass(frozen=True)
class Mistake(StateRule):
    """Not a finding if it happens without any other actor: then no order is the cause."""


MISTAKE = Mistake(EXCEPTION.name, EXCEPTION.explanation, _raised)
