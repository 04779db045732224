"""`lastapple bench pipelining`: threads that share one client, beside redis-py's pool."""

from __future__ import annotations

import click
from figures import spread
from rich import box
from rich.console import Console
from rich.table import Table

from app.bench import tables
from app.bench.fulfil.stage import stage
from app.bench.pipelining import THREADS, Cell, measure
from app.cli.interrupt import ends_at_ctrl_c
from app.cli.measuring import machine, progress
from app.cli.output import check_writable, write_json

COMMANDS = 2  # GET, and a script that writes


@click.command("pipelining", context_settings={"show_default": True, "max_content_width": 100})
@click.option("--seconds", default=1.0, type=click.FloatRange(0.1, 60), help="Of each cell.")
@click.option("--repeats", default=5, type=click.IntRange(1, 50), help="Of each cell.")
@click.option(
    "--json",
    "json_file",
    type=click.Path(dir_okay=False, allow_dash=True),
    help="Write all rows to this file; - is standard output, with nothing else on it.",
)
def pipelining(seconds: float, repeats: int, json_file: str | None) -> None:
    """What threads send at the same moment in one packet (autopipe), beside a connection for each.

    GET, and a script that writes, by 1 to 32 threads of one process; both clients take turns.
    Brings up a Valkey of its own that syncs each write to disk, and removes it again. The defaults
    take about a minute and a half.
    """
    check_writable(json_file)
    people = Console(stderr=json_file == "-", highlight=False)
    cells: list[Cell] = []
    with (
        ends_at_ctrl_c("Stopped; nothing was written."),
        stage([]) as place,
        progress(COMMANDS * len(THREADS), "bringing up a Valkey") as began,
    ):
        began("GET by 1")
        for cell in measure(place.store_url, seconds, repeats):
            cells.append(cell)
            began(f"after {cell.command} by {cell.threads}")
    people.print(_table(cells))
    people.print(f"machine: {machine()}", style="dim", markup=False)
    if json_file:
        write_json(json_file, {"rows": list(map(_row, cells)), "machine": machine()})


def _table(cells: list[Cell]) -> Table:
    made = Table(
        title="In one packet ÷ redis-py's pool: median (min–max)", box=box.SIMPLE_HEAD, padding=0
    )
    for heading in ("", "threads", "commands/s", "commands for each CPU second"):
        made.add_column(heading, justify="right")
    for cell in cells:
        figures = (spread(values) for values in zip(*cell.ratios(), strict=True))
        said = (f"{tables.number(of.median)} ({of.between(tables.number)})" for of in figures if of)
        made.add_row(cell.command, str(cell.threads), *said)
    return made


def _row(cell: Cell) -> dict[str, object]:
    speeds, cpu = (spread(values) for values in zip(*cell.ratios(), strict=True))
    own = spread(speed.per_s for speed in cell.speeds["together"])
    return {
        "name": cell.command,
        "threads": cell.threads,
        "per_s": own and own.median,
        "min": own and own.low,
        "max": own and own.high,
        "ratio_pool": speeds and speeds.median,
        "ratio_pool_min": speeds and speeds.low,
        "ratio_pool_max": speeds and speeds.high,
        "cpu_ratio_pool": cpu and cpu.median,
    }
