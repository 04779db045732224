"""The run for people at a terminal, and the words that both reports have."""

from __future__ import annotations

from collections.abc import Iterable

from figures import Spread
from rich.table import Table

from loadtest.table import empty_table, number
from loadtest.throughput.growth import Point
from loadtest.throughput.rows import FIGURES, ThroughputRow

READING = (
    "÷ no-op: good answers a second, against those of the same server that does nothing. ÷ usual: "
    "against the usual shop's sales. ÷ peer: of watch against the plain WATCH loop, of locks "
    "against python-redis-lock, both in plain Flask with as many threads as ours; a dash where it "
    "is not installed. CPU: of all processes of that shop, its store and what books its orders "
    "among them, for one good answer, in µs; the usual shop books nothing.",
    "Only ratios of one run compare, each within its repeat: shop, store and load share this "
    "machine's cores, and the more of them the load takes, the fewer the shop has.",
    "Under way: with more connections than a server has threads, the rest only queues, and that "
    "wait is in p50 and p99.",
    "Not shown: a network slower than loopback, buyers who pause, TLS.",
)

GROWTH_READING = (
    "Items are sold at once, by as many connections in all; orders are sold, not made up. What a "
    "worker keeps in memory is bounded, what the store keeps goes a day after its order is booked.",
    *READING[1:],
)


def tell(of: Spread | None) -> str:
    """Write median, and min–max where repeats differ; a dash: not known."""
    if of is None:
        return "–"
    between = of.between(number)
    return f"{number(of.median)} ({between})" if between else number(of.median)


HEADINGS = (*(heading for _, heading, *_ in FIGURES), "under way", "others")


def line(row: ThroughputRow) -> list[str]:
    """Return the row's figures, in the order of HEADINGS."""
    figures = [tell(row.figure(name, base)) for _, _, name, base in FIGURES]
    return [*figures, str(row.under_way), f"{row.others:,}"]


def table(connections: int, rows: Iterable[ThroughputRow]) -> Table:
    made = empty_table(f"{connections} connections", HEADINGS)
    for row in rows:
        made.add_row(row.name, *line(row))
    return made


GROWTH_HEADINGS = ("sales per second", "p99 ms", "processes, MiB", "store, MiB")


def growth_line(point: Point) -> list[str]:
    """Return the point's figures, in the order of GROWTH_HEADINGS."""
    memory = number(point.processes_mib), number(point.store_mib)
    return [tell(point.per_s), tell(point.p99_ms), *memory]


def growth_table(grows: str, points: Iterable[Point]) -> Table:
    made = empty_table(grows, GROWTH_HEADINGS)
    for point in points:
        made.add_row(f"{point.of:,}", *growth_line(point))
    return made


def profile_table(mode: str, connections: int, costs: dict[str, float]) -> Table:
    made = empty_table(
        f"Where the CPU of one sale goes: {mode}, {connections} connections", ("µs",)
    )
    for name, cost in costs.items():
        made.add_row(name, number(cost))
    return made
