"""A Babel extractor: finds the texts to translate in modes and recipes, also in docstrings."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import IO, Any

from babel.messages.extract import extract_python

from app.service.catalogue import described, without_warning


def extract(source: IO[bytes], *words: Any, **options: Any) -> Iterator[Any]:
    """Yield (line, function, text, comments) of each Text of a file and of its docstring's table.

    The table is what `catalogue` shows. See pyproject.toml.
    """
    yield from extract_python(source, *words, **options)
    source.seek(0)
    try:
        texts = described(ast.get_docstring(ast.parse(source.read())) or "")
    except KeyError:  # a file about something else
        return
    for text in dict.fromkeys([*texts, without_warning(texts[0])]):
        yield 1, None, text, []
