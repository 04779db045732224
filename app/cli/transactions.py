"""`lastapple transactions`: MULTI and EXEC next to BEGIN and COMMIT."""

from __future__ import annotations

import sys
from itertools import zip_longest

import click
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from app.cli import output
from app.cli.interrupt import ends_at_ctrl_c, held_back
from app.lab.transactions import CASES, Result, ServerStep, pair, play


@click.command(short_help="MULTI next to SQL's transactions, live.")
@output.as_json
def transactions(json_wanted: bool) -> None:
    """Play what is taught about MULTI, on a Valkey and a PostgreSQL side by side.

    Both are started for this command only and are gone after it. Every reply is the server's own.
    The exit status is 1 when a server behaves differently from what is taught.
    """
    results: list[Result] = []
    with ends_at_ctrl_c("Stopped."), held_back() as leave, pair() as where:
        for case in CASES:
            if leave():
                break
            results.append(play(case, where))
            if not json_wanted:
                _print(len(results), results[-1])
    if json_wanted:
        output.print_json(results)
    if not all(result.as_taught for result in results):
        sys.exit(1)


def _print(number: int, result: Result) -> None:
    console = Console(highlight=False)
    console.print(f"\n[bold]{number}. {escape(result.title)}[/]")
    console.print(escape(result.teaches))
    table = Table("Valkey", "PostgreSQL", expand=True)
    for column in table.columns:
        column.ratio = 1
    _stock(table, "before", result.valkey.before, result.postgresql.before)
    for left, right in zip_longest(result.valkey.steps, result.postgresql.steps):
        table.add_row(_said(left), _said(right))
    table.add_section()
    _stock(table, "after", result.valkey.after, result.postgresql.after)
    console.print(table)
    console.print(f"so: [green]{escape(result.so)}[/]" if result.as_taught else _otherwise(result))


def _stock(table: Table, when: str, valkey: str, postgresql: str) -> None:
    table.add_row(*(f"[dim]stock {when}:[/] {units}" for units in (valkey, postgresql)))
    table.add_section()


def _said(step: ServerStep | None) -> Table:
    grid = Table.grid(padding=(0, 1))
    if step:
        colour = "red" if "ERROR" in step.reply or "(error)" in step.reply else "cyan"
        grid.add_row(f"[bold]{step.client}[/]", escape(step.statement))
        grid.add_row("", f"[{colour}]{escape(step.reply)}[/]")
    return grid


def _otherwise(result: Result) -> str:
    return (
        f"so: [bold red]NOT AS TAUGHT.[/] {escape(result.so)}\n"
        f"    Taught is: {escape(result.taught)}"
    )
