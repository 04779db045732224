"""`lastapple modes`: the ways to sell."""

from __future__ import annotations

import click
from rich.console import Console
from rich.table import Column, Table

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
    table = Table(
        Column("Mode", no_wrap=True), "Prevents", "Breaks", "Cost", "Sound", show_lines=True
    )
    for entry in entries:
        name = f"[bold]{entry.name}[/]"
        if entry.exhibit:
            name += "\n[red]broken on purpose[/]"
        table.add_row(name, entry.prevents, entry.breaks, entry.cost, entry.sound)
    Console().print(table)
    recipes = ", ".join(recipe.name for recipe in catalogue.recipes())
    click.echo(f"`lock` takes a recipe, as in lock:lease. Recipes: {recipes}.")
