"""One promise of a library, and how it is tested."""

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
    """`claim` and `documented` are quotations from the library's page in the index or docstrings.

    `source` names another origin of a claim. A person who has read the library and its docs has
    decided what counts as a finding, before it was known whether there is one.
    """

    library: str  # its name in the index
    kind: str  # lock, semaphore, limiter, queue, cache
    what: str  # which actors do what
    claim: str
    actors: Sequence[Function]
    source: str = ""
    setup: Callable[[Any], object] | None = None
    invariant: Function | None = None
    at_end: Function | None = None
    faults: str = "none"
    documented: str = ""  # a quotation that announces what is found
    meant: str = ""  # the name of a finding that is the intended behaviour
    why: str = ""  # the cause of the shortest schedule
    shares: Mapping[str, str] = field(
        default_factory=dict
    )  # see shared_memory.py: what is kept, and why it is harmless
    seconds: int = 120


def entries() -> Iterator[MatrixEntry]:
    """Yield all entries, by library."""
    for module in pkgutil.iter_modules(libraries.__path__):
        for entry in importlib.import_module(f"{libraries.__name__}.{module.name}").ENTRIES:
            yield MatrixEntry(**entry)
