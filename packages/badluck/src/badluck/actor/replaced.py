"""Others' names replaced for a while, as a module's functions are for the code of an actor."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

Replacement = tuple[Any, str, Any]  # of what, the attribute of that name, by this


@contextmanager
def replaced(*replacements: Replacement) -> Iterator[None]:
    """Of modules and classes that have the attribute themselves; all is set back in the end."""
    before = [(owner, name, vars(owner)[name]) for owner, name, _ in replacements]
    try:
        for owner, name, value in replacements:
            setattr(owner, name, value)
        yield
    finally:
        for owner, name, value in before:
            setattr(owner, name, value)
