"""Check that the application runs from its clone; installed without it, it says so in one line."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

MIGRATIONS = Path(__file__).parents[2] / "migrations" / "versions"
LIBRARIES = ("badluck", "fairlock", "figures", "servers")  # of packages/: no index has them
BRINGS_UP_A_SHOP = ("up", "prepare", "run", "compare")


class NotTheClone(click.ClickException):
    exit_code = 2

    def __init__(self) -> None:
        super().__init__("Last Apple runs from its clone only: git clone it, cd into it, make run.")


def check(command: str) -> None:
    """Raise NotTheClone for a command that needs tables which cannot be created here."""
    if command in BRINGS_UP_A_SHOP and not MIGRATIONS.is_dir():
        raise NotTheClone


@contextmanager
def its_libraries() -> Iterator[None]:
    """Raise NotTheClone for an import of a library that is missing."""
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] in LIBRARIES:
            raise NotTheClone from error
        raise
