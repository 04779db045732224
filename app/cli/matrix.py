"""The matrix on a terminal, or in Markdown for the docs."""

from __future__ import annotations

from contextlib import closing

import click
from rich.console import Console
from rich.progress import Progress
from rich.table import Column, Table

from app.explorer.matrix import INCONCLUSIVE, Row, read

WIDEST = 17  # characters of a cell: "negative stock", and a cost beneath


def show_matrix(holds: bool, in_markdown: bool) -> None:
    """Explore all, and print the matrix on standard output; the progress on standard error."""
    if holds:
        from app.explorer.hold_matrix import asked, markdown, reports
    else:
        from app.explorer.matrix import asked, markdown, reports
    cells, rows = {}, asked()
    with (
        Progress(console=Console(stderr=True), transient=True) as bar,
        # Closed here: otherwise its processes would run until it is collected.
        closing(reports()) as done,
    ):
        task = bar.add_task("every order of everything", total=len(rows))
        for row, columns in done:
            cells[row] = columns
            bar.update(task, advance=1, description=str(row))
    if in_markdown:
        click.echo(markdown(cells), nl=False)
    else:
        _print(read(markdown(cells)))


def _print(rows: dict[str, Row]) -> None:
    """Print each way's name, and its cells beneath: next to it they would not fit 80 columns."""
    console = Console(highlight=False)
    columns = list(next(iter(rows.values())))
    width = min(WIDEST, console.width // len(columns) - 1)

    def line(cells: list[str], style: str = "") -> Table:
        table = Table.grid(*(Column(width=width) for _ in columns), padding=(0, 1))
        table.add_row(*cells, style=style)
        return table

    console.print("Each finding with (faults, switches between buyers, steps).", style="dim")
    console.print(line(columns, "bold"))
    for name, cells in rows.items():
        console.print(f"\n[bold]{name.replace('`', '')}[/]")
        console.print(line([_coloured(cell) for cell in cells.values()]))


def _coloured(cell: str) -> str:
    finding, bracket, cost = cell.partition(" (")
    if bracket:
        return f"[red]{finding}[/]\n({cost}"
    return f"[yellow]{cell}[/]" if cell.startswith(INCONCLUSIVE) else f"[green]{cell}[/]"
