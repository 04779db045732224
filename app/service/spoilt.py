"""A verdict on a round whose store has lost something of it: never exact, for ever after."""

from __future__ import annotations

from app.service.verdict import Verdict
from app.text import Text, together

HARMLESS = (Verdict.UNTOUCHED, Verdict.EXACT, Verdict.SETTLING)


def spoilt(verdict: Verdict, sentence: str, lost: Text) -> tuple[Verdict, Text]:
    """What is left of it: that all is accounted for is said of what the store remembers only."""
    if verdict in HARMLESS:  # whatever else comes, this stays
        return Verdict.INCONSISTENT, lost
    return verdict, together(sentence, lost)
