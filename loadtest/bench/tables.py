"""The run for people: a table and a chart for each shape, and how to read them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from figures import Spread
from rich.table import Table
from rich.text import Text

from loadtest.bench.cell import Shape
from loadtest.bench.results import LockResult
from loadtest.bench.run import LocksPlan
from loadtest.table import empty_table
from loadtest.table import number as any_number

# Columns of a terminal with room for each figure's spread; a narrower one gets medians.
WIDE = 112
BAR = 36  # characters of the longest bar
RATIO = "ratio"
number = partial(any_number, separator="")  # for a separator there is no room

COLUMNS = {
    "sales\nper s": "sales_per_s",
    RATIO: "",
    "p50\nms": "p50_ms",
    "p99\nms": "p99_ms",
    "longest\nms": "longest_ms",
    "fair-\nness": "fairness",
    "round\ntrips": "round_trips_per_sale",
    "comm-\nands": "commands_per_sale",
}


def cell(of: Spread | None, wide: bool) -> str:
    """Return the median, and below it min–max unless all repeats are equal; a dash for none."""
    if of is None:
        return "–"
    if not (wide and (between := of.between(number))):
        return number(of.median)
    return f"{number(of.median)}\n[dim]{between}[/]"


def title(shape: Shape) -> str:
    if shape == (1, 1):
        return "1x1: uncontended"
    processes = "1 process" if shape.processes == 1 else f"{shape.processes} processes"
    threads = "1 thread" if shape.threads == 1 else f"{shape.threads} threads"
    return f"{shape}: {processes} × {threads} contend for one item"


def table(plan: LocksPlan, shape: Shape, results: Sequence[LockResult], width: int) -> Table:
    """Return median and, where there is room, min–max of every figure over the repeats."""
    wide = width >= WIDE
    shown = "median and min–max" if wide else "median"
    repeats = "one repeat" if plan.repeats == 1 else f"{shown} of {plan.repeats} repeats"
    made = empty_table(
        title(shape),
        (*COLUMNS, "over-\nsold"),
        caption=f"{repeats} of {plan.seconds} s. "
        f"ratio: sales/s ÷ {plan.base.name}'s in the same repeat. p50, p99, longest: wait for the "
        "lock. fairness: most ÷ fewest sales of one contender. round trips, commands: sent per "
        "sale. oversold: units, in all repeats.",
        caption_justify="left",
        padding=0,
    )
    for result in results:
        spreads = [
            result.ratio("sales_per_s") if heading == RATIO else result.spread(name)
            for heading, name in COLUMNS.items()
        ]
        oversold = f"[bold red]{result.oversold}[/]" if result.oversold else "0"
        made.add_row(label(result), *(cell(figure, wide) for figure in spreads), oversold)
    return made


def label(result: LockResult) -> str:
    name = result.row.name
    return f"{name}\n[red](broken on purpose)[/]" if result.row.exhibit else name


def chart(plan: LocksPlan, results: Sequence[LockResult]) -> Table:
    """Return a bar for each ratio, with its whiskers as text."""
    ratios = [(result.row, result.ratio("sales_per_s")) for result in results]
    longest = max((ratio.median for _, ratio in ratios if ratio), default=0.0) or 1.0
    made = Table.grid(padding=(0, 1))
    made.add_row("", Text(f"sales/s ÷ {plan.base.name}'s: median (min–max)", style="dim"))
    for row, ratio in ratios:
        colour = "red" if row.exhibit else "yellow" if row == plan.base else "green"
        if ratio is None:  # the base sold nothing
            made.add_row(row.name, "–")
            continue
        bar = "█" * round(BAR * ratio.median / longest) or "▏"
        whiskers = f" ({between})" if (between := ratio.between(number)) else ""
        made.add_row(row.name, Text.assemble((bar, colour), f" {number(ratio.median)}{whiskers}"))
    return made


def reading(plan: LocksPlan) -> list[str]:
    return [
        "How to read it: look at fairness and the longest wait before the ratio. A lock that "
        "sleeps long between its tries sells much, because the client that has just released it "
        "takes it again and again while the others sleep: it starves them (∞: a client sold "
        "nothing).",
        f"Only ratios of one run compare: each is against {plan.base.name} in the same repeat, on "
        "this machine, whose cores contenders and server share. Where two rows' min–max overlap, "
        "the run does not tell them apart.",
        "Not shown: a network slower than loopback, work in the section beyond its two round "
        "trips, a thread's very first wait, holders that die or pause, a Valkey that writes to "
        "disk.",
    ]
