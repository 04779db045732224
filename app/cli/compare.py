"""`lastapple compare`: a process of its own, as it speaks to the shop by HTTP only."""

from __future__ import annotations

import os
import sys

import click


@click.command(
    short_help="Stampede a shop in several modes; what each costs.",
    context_settings={"ignore_unknown_options": True, "help_option_names": []},
    add_help_option=False,
)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def compare(arguments: tuple[str, ...]) -> None:
    """Stampede a shop in several modes and read what each costs (--help tells more)."""
    os.execv(sys.executable, [sys.executable, "-m", "loadtest.compare", *arguments])
