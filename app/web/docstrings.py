"""Finds the texts to be translated in the docstrings of modes and recipes (a Babel extractor)."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import IO, Any

from app.service.catalogue import described, without_warning


def extract(
    source: IO[bytes], *_: Any, **options: Any
) -> Iterator[tuple[int, None, str, list[str]]]:
    """(line, function, text, comments) of what `catalogue` shows of a file; see pyproject.toml."""
    try:
        texts = described(ast.get_docstring(ast.parse(source.read())) or "")
    except KeyError:  # a file about something else
        return
    for text in dict.fromkeys([*texts, without_warning(texts[0])]):
        yield 1, None, text, []
