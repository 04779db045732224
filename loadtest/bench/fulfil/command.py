"""`lastapple bench fulfil`: how fast, and at what cost, sales become orders."""

from __future__ import annotations

import click
from rich.console import Console

from app.cli.interrupt import ends_at_ctrl_c, held_back
from app.cli.output import check_writable, write_json
from loadtest.bench import tables
from loadtest.bench.fulfil import report
from loadtest.bench.fulfil.cell import run
from loadtest.bench.fulfil.stage import DATABASES, NO_POSTGRESQL, databases
from loadtest.machine import summarize
from loadtest.options import as_json, repeats
from loadtest.progress import progress


@click.command("fulfil", context_settings={"show_default": True, "max_content_width": 100})
@click.option(
    "--sales", default=50_000, type=click.IntRange(1_000, 5_000_000), help="Of each repeat."
)
@repeats
@as_json
def fulfil(sales: int, repeats: int, json_file: str | None) -> None:
    """Sell as fast as mode atomic can, then book it all: into SQLite, and into PostgreSQL.

    Brings up a Valkey and a PostgreSQL of its own, in a temporary folder, and removes them again.
    Both sync to the disk, as the shop's do. The defaults take about a minute and a half.
    """
    check_writable(json_file)
    people = Console(stderr=json_file == "-", highlight=False)
    if not people.is_terminal:
        people.width = tables.WIDE
    kinds = databases()
    if kinds != DATABASES:
        people.print(NO_POSTGRESQL, style="yellow", markup=False)
    with (
        ends_at_ctrl_c("Stopped; nothing was written."),
        held_back() as leave,
        progress(len(kinds) * repeats, "bringing up the servers") as began,
    ):
        measured = run(kinds, sales, repeats, began, leave)
    people.print(report.table(measured, sales, repeats))
    people.print(report.READING, markup=False)
    people.print(f"machine: {summarize()}", style="dim", markup=False)
    if json_file:
        write_json(json_file, {"rows": report.rows(measured), "machine": summarize()})
