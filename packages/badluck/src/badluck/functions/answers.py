"""Answers of actors: as text in a schedule, as values for invariants."""

from __future__ import annotations

from ast import literal_eval
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from badluck.actor.request import RAISED

FAILED = "ERROR"  # as `outcome` in actor/request.py


def format_answer(said: object) -> str:
    """Return a plain value in full, `<its type>` for any other."""
    text = repr(said)
    with suppress(ValueError, SyntaxError):
        if type(known := literal_eval(text)) is type(said) and known == said:
            return text
    return f"<{type(said).__name__}>"


class AnswersByName(dict[str, Any]):
    """The answers of actors, by name."""

    def __missing__(self, name: str) -> Any:
        raise KeyError(
            f"{name} has not answered: it is at work, has crashed, or ended in an error "
            f"(answers.get({name!r}) is None then)"
        )


def parse_answers(words: Sequence[tuple[str, str]]) -> AnswersByName:
    """Parse the answers of the actors that have answered."""
    return AnswersByName(
        (name, word if word.startswith("<") else literal_eval(word))
        for name, word in words
        if word != FAILED and not word.startswith(RAISED)
    )
