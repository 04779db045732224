"""`lastapple bench fulfil`: how fast, and at what cost, sales become orders."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import click
from figures import Spread, spread
from rich.console import Console
from rich.table import Table

from app.cli.interrupt import ends_at_ctrl_c, held_back
from app.cli.output import check_writable, write_json
from loadtest.bench import tables
from loadtest.bench.fulfil.cell import SELLERS, FulfilFigures, run
from loadtest.bench.fulfil.stage import DATABASES, NO_POSTGRESQL, databases
from loadtest.bench.tables import cell
from loadtest.machine import summarize
from loadtest.options import as_json, repeats
from loadtest.progress import progress
from loadtest.table import empty_table

Row = dict[str, str | float | None]
Measured = Mapping[str, Sequence[FulfilFigures]]  # by database

# The drain's figures: name in the document -> member of FulfilFigures, and its heading.
COLUMNS = {
    "ratio_sell": ("ratio", "drain ÷ sales"),
    "cpu_us_per_order": ("cpu_us", "CPU of fulfil, µs an order"),
    "store_cpu_us_per_order": ("store_cpu_us", "CPU of the store, µs an order"),
    "database_cpu_us_per_order": ("database_cpu_us", "CPU of the database, µs an order"),
    "rss_mb_before": ("rss_before", "fulfil at the beginning, MB"),
    "rss_mb_after": ("rss_after", "fulfil at the end, MB"),
    "used_memory_mb_before": ("used_before", "the store, empty, MB"),
    "used_memory_mb_sold": ("used_sold", "with all sales, MB"),
    "used_memory_mb_booked": ("used_booked", "with all booked, MB"),
}
READING = (
    "Sales: mode atomic by 16 threads of one process, no HTTP. Drain: fulfil's, without "
    "sales, against the sales of the same repeat. CPU: of one core, while it drains; SQLite "
    "works inside fulfil. What the store keeps of booked sales are their keys, for a day. Keys and "
    "buyers begin with their moment, as the shop makes them; random ones cost the database more."
)


def rows(measured: Measured) -> list[Row]:
    """Return the row of `sell` and each database's; null for a figure that a row does not have."""
    every = [figures.sales_per_s for cells in measured.values() for figures in cells]
    table_rows = [_row("sell", SELLERS, spread(every), [])]
    for kind, cells in measured.items():
        drain = spread(figures.drain_per_s for figures in cells)
        table_rows.append(_row(f"fulfil-{kind}", None, drain, cells))
    return table_rows


def _row(
    name: str, connections: int | None, per_s: Spread | None, cells: Sequence[FulfilFigures]
) -> Row:
    row: Row = dict.fromkeys(("ratio_noop", "ratio_usual", "p50_ms", "p99_ms"))
    row |= {"name": name, "connections": connections}
    row |= {
        "per_s": per_s and round(per_s.median, 1),
        "min": per_s and round(per_s.low, 1),
        "max": per_s and round(per_s.high, 1),
    }
    for column, (member, _) in COLUMNS.items():
        figure = spread(getattr(figures, member) for figures in cells)
        row[column] = figure and round(figure.median, 2)
    return row


def table(measured: Measured, sales: int, repeats: int) -> Table:
    title = f"{sales:,} sales, sold and then booked; median and min–max of {repeats} repeats"
    made = empty_table(title, measured)
    labels = {"sales_per_s": "sales per s", "drain_per_s": "drain, orders per s"}
    for member, words in (*labels.items(), *COLUMNS.values()):
        spreads = [
            spread(getattr(figures, member) for figures in cells) for cells in measured.values()
        ]
        made.add_row(words, *(cell(figure, wide=True).replace("\n", "  ") for figure in spreads))
    return made


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
    people.print(table(measured, sales, repeats))
    people.print(READING, markup=False)
    people.print(f"machine: {summarize()}", style="dim", markup=False)
    if json_file:
        write_json(json_file, {"rows": rows(measured), "machine": summarize()})
