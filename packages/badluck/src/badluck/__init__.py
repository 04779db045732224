"""Every order in which redis-py code can run, with faults, and the shortest one that fails.

    report = Explorer(Program(Path("buy.py"), prepare, rules), 2).explore(Faults(crash=1))
    print(verdict(report), chart(report.findings[0].trace, "AB"), sep="\\n")

A `Program` is a file with a function; to explore other code, write a `Target`.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from badluck.api import *  # noqa: F403


def __getattr__(name: str) -> Any:
    """Load the API on first use: pytest imports this package in every run, even if unused."""
    return getattr(import_module("badluck.api"), name)
