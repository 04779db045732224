"""`lastapple bench http` and `bench growth`; also `python -m loadtest.throughput http`.

Exit status 0: the run worked; 1: it could not be finished; 2: bad input; 130: Ctrl-C.
"""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, TypeVar

import click
from rich.console import Console

from loadtest import RunFailed
from loadtest.compare import check_writable, write
from loadtest.inputs import check_modes, parse_modes
from loadtest.machine import describe
from loadtest.options import MOST, MOST_ORDERS, common, one_line_errors, parsed, whole
from loadtest.progress import Steps
from loadtest.throughput import growth as growing
from loadtest.throughput import profile as profiling
from loadtest.throughput import report, tables
from loadtest.throughput.load import generator
from loadtest.throughput.rows import document, rows
from loadtest.throughput.run import ThroughputPlan, run
from loadtest.throughput.servers import NO_PEERS, ServerSet, servers

T = TypeVar("T")
SETTINGS = {"show_default": True, "max_content_width": 100}


@click.group(context_settings=SETTINGS)
def bench() -> None:
    """Compare our shop with the usual one, over HTTP."""


@bench.command(context_settings=SETTINGS)
@click.option(
    "--modes", default="atomic,watch,fused", callback=parsed(parse_modes), help="Ways of selling."
)
@click.option(
    "--connections",
    default="16,64,256",
    callback=parsed(whole(MOST)),
    help="How many ask at the same time.",
)
@click.option("--profile", is_flag=True, help="Also say where a sale's CPU goes; needs py-spy.")
@common("bench-http.html")
def http(
    modes: list[str],
    connections: list[int],
    html_file: str,
    profile: bool,
    seconds: int,
    repeats: int,
    threads: int | None,
    json_file: str | None,
) -> None:
    """Purchases a second: our modes, a no-op, the usual shop and the bare store, in turn.

    The usual shop is plain Flask and redis-py in gunicorn with 2 × 8 threads; it books no order and
    knows no keys. Every request has a fresh key. Brings up its own shops on loopback, with one
    store that syncs each sale to disk, and removes them again. The load comes from wrk where that
    is installed, else from Locust. The first mode is also asked when it is sold out.

    The defaults take about six minutes.
    """
    if profile and not profiling.there():
        raise click.UsageError("--profile needs py-spy: pip install py-spy")
    check_writable(json_file, html_file)
    costs: dict[str, float] = {}
    plan = ThroughputPlan(modes, connections, seconds, repeats)

    def measured(place: ServerSet, steps: Steps) -> list[Any]:
        check_modes(modes, place.lab.about())
        steps.expect(len(list(plan.cells())) + profile)
        made = rows(run(plan, place, steps.step))
        if profile:
            with steps.step(f"{modes[0]}: where a sale's CPU goes"):
                costs.update(profiling.profile(place, modes[0], connections[-1], seconds))
        return made

    made, facts = _measure(measured, threads, plan.peers)
    people = _people(json_file)
    for crowd in connections:
        people.print(tables.table(crowd, [row for row in made if row.connections == crowd]))
    if costs:
        people.print(tables.profile_table(modes[0], connections[-1], costs))
    page = report.http_page(made, costs, facts, _command(), datetime.now().astimezone())
    for sentence in tables.READING:
        people.print(sentence)
    contents = {"rows": document(made)} | ({"profile": costs} if costs else {})
    _finish(people, facts, contents, page, json_file, html_file)


@bench.command(context_settings=SETTINGS)
@click.option("--mode", default="atomic", help="How it sells.")
@click.option(
    "--contenders", default="1,8,32,128,256", callback=parsed(whole(MOST)), help="Connections."
)
@click.option("--items", default="1,2,6", callback=parsed(whole(6)), help="Sold at once.")
@click.option(
    "--orders",
    default="1000,10000,100000",
    callback=parsed(whole(MOST_ORDERS)),
    help="In the books; a million takes some five minutes to sell.",
)
@common("bench-growth.html")
def growth(
    mode: str,
    contenders: list[int],
    items: list[int],
    orders: list[int],
    html_file: str,
    seconds: int,
    repeats: int,
    threads: int | None,
    json_file: str | None,
) -> None:
    """Measure sales per second and p99 with more contenders, items and orders in the books.

    The shop's shelf has six items. Orders are sold, not made up: the books grow by what buyers buy.
    The defaults take about four minutes.
    """
    check_writable(json_file, html_file)
    plan = growing.GrowthPlan(mode, contenders, items, orders, seconds, repeats)

    def measured(place: ServerSet, steps: Steps) -> list[Any]:
        check_modes([mode], place.lab.about())
        steps.expect(repeats * (len(contenders) + len(items) + len(orders)))
        return growing.Growth(plan, place, steps.step).run()

    points, facts = _measure(measured, threads)
    people = _people(json_file)
    for grows in dict.fromkeys(point.grows for point in points):
        of = [point for point in points if point.grows == grows]
        people.print(tables.growth_table(grows, of))
    for sentence in tables.GROWTH_READING:
        people.print(sentence)
    page = report.growth_page(points, facts, _command(), datetime.now().astimezone())
    contents = {"rows": [point.document() for point in points]}
    _finish(people, facts, contents, page, json_file, html_file)


def _measure(
    measured: Callable[[ServerSet, Steps], list[T]],
    threads: int | None,
    peers: Mapping[str, str] = NO_PEERS,
) -> tuple[list[T], dict[str, str]]:
    """Return the rows and facts of the machine. No process is left running, also after errors."""
    with one_line_errors(), Steps() as steps, servers(threads, peers) as place:
        about = place.lab.about()
        try:
            made = measured(place, steps)
        except RunFailed:
            place.shop.check()  # if the shop died, that is the reason to report
            raise
    facts = describe(about, 0, own=True).facts()
    shops = f"{about.workers} workers × {about.threads} threads; the usual one 2 × 8"
    return made, facts | {"shop": shops, "load": generator()}


def _command() -> str:
    """Return the command line that measures the same again."""
    return shlex.join(["lastapple", "bench", *sys.argv[1:]])


def _people(json_file: str | None) -> Console:
    """Return the console for people; standard output may be the document's."""
    people = Console(stderr=json_file == "-", markup=False, highlight=False)
    if not people.is_terminal:
        people.width = 160
    return people


def _finish(
    people: Console,
    facts: dict[str, str],
    document: dict[str, Any],
    page: str,
    json_file: str | None,
    html_file: str,
) -> None:
    for name, fact in facts.items():
        people.print(f"{name}: {fact}", style="dim")
    write(html_file, page)
    people.print(f"Report with charts: {html_file}", soft_wrap=True)
    if json_file:
        write(json_file, json.dumps(document | {"machine": facts}, indent=2) + "\n")


if __name__ == "__main__":
    bench(prog_name="lastapple bench")
