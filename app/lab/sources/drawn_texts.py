"""Finds the texts to be translated in the drawings of docs/ (a Babel extractor)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO, Any

from app.lab.sources.drawings import drawings
from app.lab.sources.narrated import notes


def extract(source: IO[bytes], *_words: Any, **_options: Any) -> Iterator[Any]:
    """(line, function, text, comments) of each note. See pyproject.toml."""
    for drawing in drawings(source.read().decode()):
        for note in notes(drawing.text):
            yield 1, None, note, []
