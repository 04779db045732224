"""`lastapple modes`: the ways to sell."""

from __future__ import annotations

import click

from app.cli import output
from app.service import catalogue


@click.command(short_help="List the ways to sell.")
@output.as_json
def modes(json_wanted: bool) -> None:
    """List the ways to sell: what each prevents, how it breaks, what it costs."""
    entries = catalogue.modes()
    if json_wanted:
        output.print_json(entries)
        return
    recipes = ", ".join(recipe.name for recipe in catalogue.recipes())
    note = f"`lock` takes a recipe, as in lock:lease. Recipes: {recipes}."
    output.print_catalogue("Mode", entries, note)
