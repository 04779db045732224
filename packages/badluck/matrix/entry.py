"""One thing that a library promises, and how it is put to the test."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from badluck.functions.signature import Function

from matrix import libraries


@dataclass(frozen=True)
class MatrixEntry:
    """`claim` and `documented` are quotations, of its page in the index or of its docstrings.

    A claim of elsewhere names that in `source`. What a finding is has been judged by reading the
    library and its docs; whether there is one, by nobody beforehand.
    """

    library: str  # its name in the index
    kind: str  # lock, semaphore, limiter, queue, cache
    what: str  # who does what
    claim: str
    actors: Sequence[Function]
    source: str = ""
    setup: Callable[[Any], object] | None = None
    invariant: Function | None = None
    at_end: Function | None = None
    faults: str = "none"
    documented: str = ""  # that what is found is to be expected
    meant: str = ""  # the name of a finding that is none: it is how the library is meant to work
    why: str = ""  # what the shortest schedule comes of
    shares: Mapping[str, str] = field(
        default_factory=dict
    )  # see shared.py: what is kept, and why it is no harm
    seconds: int = 120


def entries() -> Iterator[MatrixEntry]:
    """All that are known, by library."""
    for module in pkgutil.iter_modules(libraries.__path__):
        for entry in importlib.import_module(f"{libraries.__name__}.{module.name}").ENTRIES:
            yield MatrixEntry(**entry)
