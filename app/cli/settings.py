"""`lastapple settings`: the table of settings."""

from __future__ import annotations

import click
from rich.console import Console
from rich.table import Table

from app.cli import output
from app.config import SETTINGS


@click.command("settings")
@output.as_json
def settings(json_wanted: bool) -> None:
    """Show every setting, its value now, and what it does. Set them in the environment."""
    now = output.settings()
    rows = [
        {
            "name": row.name.upper(),
            "value": _shown(getattr(now, row.name), row.metadata["secret"]),
            "default": row.default,
            "help": row.metadata["help"],
            "same_on_all_hosts": row.metadata["same"],
        }
        for row in SETTINGS
    ]
    if json_wanted:
        output.print_json(rows)
        return
    table = Table("Variable", "Value", "What it does")
    for row in rows:
        same = "Same on all hosts: " if row["same_on_all_hosts"] else ""
        table.add_row(row["name"], str(row["value"]), same + row["help"])
    Console().print(table)


def _shown(value: str | int, secret: bool) -> str | int:
    return "(set)" if secret and value else value
