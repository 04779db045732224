"""Every order in which redis-py code can run, with faults, and the shortest that breaks it.

    report = Explorer(Program(Path("buy.py"), prepare, rules), 2).explore(Faults(crash=1))
    print(verdict(report), chart(report.findings[0].trace, "AB"), sep="\\n")

A `Program` is a file with a function; whoever has other code to explore writes a `Target`.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from badluck.api import *  # noqa: F403


def __getattr__(name: str) -> Any:
    """Loaded when it is asked for: pytest loads our plugin in every run, also without a use."""
    return getattr(import_module("badluck.api"), name)
