"""`lastapple bench locks` and `bench fulfil`; also `python -m loadtest.bench locks`."""

from __future__ import annotations

from functools import partial

import click
from rich.console import Console

from app.cli.output import Commands, check_writable, settings, write_json
from loadtest.bench import tables
from loadtest.bench.cell import Shape
from loadtest.bench.fulfil.command import fulfil
from loadtest.bench.rows import BASE, DEFAULT, ROWS, choose, missing
from loadtest.bench.run import Finished, LocksPlan, document, run
from loadtest.inputs import split
from loadtest.machine import summarize
from loadtest.options import as_json, one_line_errors, parsed, repeats, window
from loadtest.progress import progress


@click.group(cls=Commands)
def bench() -> None:
    """Compare our locks with other libraries' locks, and measure how fast sales are booked."""


bench.add_command(fulfil)


@bench.command(context_settings={"show_default": True, "max_content_width": 100})
@click.option(
    "--only",
    metavar="A,B,C",
    callback=parsed(partial(split, example="lease,redis-py")),
    help=f"Which locks, of: {', '.join(ROWS)}.  [default: {', '.join(DEFAULT)}]",
)
@click.option(
    "--shapes",
    default="2x4,2x16",
    callback=parsed(lambda text: [Shape.parse(part) for part in split(text, "2x4,2x16")]),
    help="Processes x threads that contend.",
)
@window(2)
@repeats
@click.option(
    "--base", metavar="NAME", help=f"The lock that ratios are against.  [default: {BASE}]"
)
@as_json
def locks(
    only: list[str] | None,
    shapes: list[Shape],
    seconds: int,
    repeats: int,
    base: str | None,
    json_file: str | None,
) -> None:
    """Let each lock guard the sale of one item, and see what it costs and whom it starves.

    Every shape is P processes of T threads, all after the same lock; 1x1 is uncontended. The
    locks take turns, so that a noisy minute hits all of them. Brings up a Valkey of its own, in
    a temporary folder, and removes it again. The defaults take about three minutes.

    watch, fused and atomic are whole sales of the shop's modes.

    Three rows live elsewhere: redlock on three Valkeys more, db_unique in a SQLite file in that
    folder, zookeeper on yours, if ZOOKEEPER_HOSTS is set. Name them with --only.

    Other libraries come with `make install-dev`; without it only our locks and redis-py's are
    measured.
    """
    hosts = settings().zookeeper_hosts
    choice = choose(only, base, partial(missing, zookeeper_hosts=hosts))
    plan = LocksPlan(choice.rows, choice.base, shapes, seconds, repeats, hosts)
    check_writable(json_file)
    # Standard output may be the document's.
    people = Console(stderr=json_file == "-", highlight=False)
    if not people.is_terminal:
        people.width = tables.WIDE
    for remark in choice.remarks:
        people.print(remark, style="yellow", markup=False)
    with one_line_errors(), progress(len(plan.cells), "bringing up a Valkey") as began:
        finished = run(plan, began)
    show(people, plan, finished)
    if json_file:
        write_json(json_file, document(finished, summarize()))


def show(people: Console, plan: LocksPlan, finished: Finished) -> None:
    for shape in plan.shapes:
        results = [result for result in finished.results if result.shape == shape]
        people.print(tables.table(plan, shape, results, people.width))
        people.print(tables.chart(plan, results))
        people.print()
    for sentence in tables.reading(plan):
        people.print(sentence, markup=False)
    facts = {row.name: row.settings for row in plan.rows}
    for name, fact in (facts | {"server": finished.server, "machine": summarize()}).items():
        people.print(f"{name}: {fact}", style="dim", markup=False)


if __name__ == "__main__":
    bench(prog_name="lastapple bench")
