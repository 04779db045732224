"""`lastapple locks`: the lock recipes."""

from __future__ import annotations

import click

from app.cli import output
from app.service import catalogue


@click.command(short_help="List the ways to lock.")
@output.as_json
def locks(json_wanted: bool) -> None:
    """List the lock recipes: what each prevents, how it breaks, what it costs, when it is sound."""
    entries = catalogue.recipes()
    if json_wanted:
        output.print_json(entries)
        return
    output.print_catalogue(
        "Recipe", entries, "Mode `lock` takes each of them, as in lock:lease. Pages: docs/locks."
    )
