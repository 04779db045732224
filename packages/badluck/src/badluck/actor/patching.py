"""Attributes replaced for a while, such as a module's functions for an actor's code."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from greenlet import getcurrent

from badluck.actor.actor import Fiber

Replacement = tuple[Any, str, Any]  # the owner, the attribute's name, the replacement


@contextmanager
def replaced(*replacements: Replacement) -> Iterator[dict[int, Any]]:
    """Replace attributes of modules and classes that define them; restore all at the end.

    Yields the replacements by the ids of the originals.
    """
    before = [(owner, name, vars(owner)[name]) for owner, name, _ in replacements]
    try:
        for owner, name, value in replacements:
            setattr(owner, name, value)
        pairs = zip(before, replacements, strict=True)
        yield {id(original[2]): instead[2] for original, instead in pairs}
    finally:
        for owner, name, value in before:
            setattr(owner, name, value)


def in_fiber(real: Callable[..., Any], ours: Callable[..., Any]) -> Callable[..., Any]:
    """Call `ours` for the code of an actor, `real` for all other code."""

    def call(*args: Any, **kwargs: Any) -> Any:
        return (ours if isinstance(getcurrent(), Fiber) else real)(*args, **kwargs)

    return call
