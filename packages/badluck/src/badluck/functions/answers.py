"""What actors have answered, as a text in a schedule, and as a value for who looks."""

from __future__ import annotations

from ast import literal_eval
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from badluck.findings.raised import RAISED

FAILED = "ERROR"  # as `outcome` in actor/request.py


def plain(said: object) -> str:
    """All of a plain value, `<its type>` of any other."""
    text = repr(said)
    with suppress(ValueError, SyntaxError):
        if type(known := literal_eval(text)) is type(said) and known == said:
            return text
    return f"<{type(said).__name__}>"


def told(words: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """By name, of those who have answered."""
    return {
        name: word if word.startswith("<") else literal_eval(word)
        for name, word in words
        if word != FAILED and not word.startswith(RAISED)
    }
