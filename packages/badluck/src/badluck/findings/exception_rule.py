"""An exception in somebody's code: what its actor is told instead of an answer."""

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
    """Is no finding where nobody else need do anything for it to happen: no order is the cause."""


MISTAKE = Mistake(EXCEPTION.name, EXCEPTION.explanation, _raised)
