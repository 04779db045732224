"""`lastapple settings`: the table of settings."""

from __future__ import annotations

import click
from rich.console import Console
from rich.table import Table

from app.cli import output
from app.config import SETTINGS

# Values nobody should read over somebody's shoulder.
HIDDEN = ("secret_key", "lab_token", "database_url", "redis_url", "redlock_urls")


@click.command("settings")
@output.as_json
def settings(json_wanted: bool) -> None:
    """Show every setting, its value now, and what it does. Set them in the environment."""
    now = output.settings()
    rows = [
        {
            "name": row.name.upper(),
            "value": _shown(row.name, getattr(now, row.name)),
            "default": row.default,
            "help": row.metadata["help"],
        }
        for row in SETTINGS
    ]
    if json_wanted:
        output.print_json(rows)
        return
    table = Table("Variable", "Value", "What it does")
    for row in rows:
        table.add_row(row["name"], str(row["value"]), row["help"])
    Console().print(table)


def _shown(name: str, value: str | int) -> str | int:
    return "(set)" if name in HIDDEN and value else value
