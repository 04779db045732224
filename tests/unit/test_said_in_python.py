"""Sentences that Python shows to a visitor are Texts; otherwise no translator would see them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.server.answers import PROBLEMS

APP = Path(__file__).parents[2] / "app"
FILES = [
    file
    for room in ("domain", "lab", "ops", "server", "service", "shop")
    for file in (APP / room).rglob("*.py")
]
FILES = sorted([*FILES, APP / "explorer" / "targets.py"])
# A visitor sees another text for a 5xx; the error's own words go to the log.
SAID = {kind.__name__ for kind, (status, _) in PROBLEMS.items() if status < 500}
SAID |= {"Unreachable", "problem", "abort", "BadRequest", "LengthRequired", "UnsupportedMediaType"}


def unseen(source: str) -> list[str]:
    """Return sentences in `source` that are no Text, and Texts that are built at each call."""
    calls = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)]
    found: list[ast.expr] = []
    for call in calls:
        name = ast.unparse(call.func).rpartition(".")[2]
        if name in ("Text", "counted"):
            found += [each for each in call.args if isinstance(each, ast.JoinedStr)]
        elif name in SAID or name == "__init__":
            found += [each for arg in call.args for each in _told(arg) if _is_sentence(each)]
    return [ast.unparse(each) for each in found]


def _told(arg: ast.expr) -> Iterator[ast.expr]:
    """Yield the parts of an argument that are shown: an Invalid has them in a dictionary."""
    match arg:
        case ast.Dict(values=values):
            yield from values
        case ast.DictComp(value=value):
            yield value
        case _:
            yield arg


def _is_sentence(node: ast.expr) -> bool:
    match node:
        case ast.JoinedStr():
            return True
        case ast.Constant(value=str(text)):
            return " " in text
    return False


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(APP).as_posix())
def test_no_translator_misses_a_sentence(path: Path) -> None:
    assert unseen(path.read_text()) == []


def test_such_sentences_are_found() -> None:
    assert unseen('raise UnknownRun(f"There is no run {id}.")') == ["f'There is no run {id}.'"]
    assert unseen('raise Invalid({"item": "Name an item."})') == ["'Name an item.'"]
    assert unseen('problem(404, "Not here", error)') == ["'Not here'"]
    assert unseen('Text(f"There is no {name}.")') == ["f'There is no {name}.'"]
    assert unseen('raise Invalid({"item": Text("Name an item.")})') == []
