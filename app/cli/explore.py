"""`lastapple explore`: every order of execution, on the real code."""

from __future__ import annotations

import sys

import click
from rich.console import Console
from rich.progress import Progress

from app.cli.output import check_writable, write_json
from app.cli.sql_orders import explore_sql
from app.cli.theirs import student, their_errors
from app.explorer import apart, targets
from app.explorer.chart import chart
from app.explorer.explore import Explorer, Report
from app.explorer.faults import Faults
from app.explorer.limits import IN_WORDS
from app.explorer.matrix import markdown, names, rows
from app.explorer.names import LETTERS
from app.explorer.sql.explore import explores
from app.explorer.student import Student
from app.explorer.verdict import budget, others, verdict
from app.service.rounds import full_name

CLEAN, FOUND, INCONCLUSIVE = 0, 1, 3  # exit status; 2 is for bad input


class FaultsType(click.ParamType[Faults]):
    """crash=1,pause=2: how often each may happen."""

    name = "faults"

    def convert(
        self, value: str | Faults, param: click.Parameter | None, ctx: click.Context | None
    ) -> Faults:
        if isinstance(value, Faults):
            return value
        budget: dict[str, int] = {}
        for part in value.replace("none", "").split(","):
            kind, _, count = part.strip().partition("=")
            if not kind:
                continue
            if kind not in Faults._fields:
                self.fail(f"{kind!r} is none of {', '.join(Faults._fields)}.", param, ctx)
            if not count.isdecimal() or not 0 <= int(count) <= MOST_FAULTS:
                self.fail(f"{part.strip()!r}: {kind}= needs 0 to {MOST_FAULTS}.", param, ctx)
            budget[kind] = int(count)
        return Faults(**budget)


MOST_FAULTS = 3


@click.command(context_settings={"show_default": True, "max_content_width": 100})
@click.argument("target", required=False)
@click.option(
    "--matrix",
    is_flag=True,
    help="All that can be explored, with three buyers, against every fault: a table.",
)
@click.option("--buyers", default=2, type=click.IntRange(2, 4), help="How many buy at once.")
@click.option("--stock", default=1, type=click.IntRange(1, 10), help="Units on the shelf.")
@click.option("--quantity", default=1, type=click.IntRange(1, 10), help="Units each one wants.")
@click.option(
    "--faults",
    default="crash=1,pause=1",
    type=FaultsType(),
    help="How often each of crash, pause, lost and failover may happen; none for none.",
)
@click.option(
    "--again",
    is_flag=True,
    help="Instead of faults: all but A come again and again, to a full shelf. Is A starved?",
)
@click.option(
    "--retries",
    default="0",
    type=click.Choice(["0", "default"]),
    help="How often the client sends again: never, as in the shop, or as redis-py does by default.",
)
@click.option("--all-findings", is_flag=True, help="A chart for each, not only for the gravest.")
@click.option(
    "--save",
    type=click.Path(dir_okay=False),
    help="Write all schedules there, for `lastapple replay`.",
)
@click.option(
    "--json",
    "json_file",
    type=click.Path(dir_okay=False, allow_dash=True),
    help="Write all that was found there; - is standard output, with nothing else on it.",
)
def explore(
    target: str | None,
    matrix: bool,
    buyers: int,
    stock: int,
    quantity: int,
    faults: Faults,
    again: bool,
    retries: str,
    all_findings: bool,
    save: str | None,
    json_file: str | None,
) -> None:
    """Run TARGET's real code through every order of its steps, and show the shortest that fails.

    TARGET is a mode, or mode:recipe: watch, lock:lease. Each buyer is stopped at every command
    that it sends, and goes on when the search says so; the server is a model of Redis that real
    servers are the judge of. The faults:

    \b
      crash     a buyer stops for ever, at any step, and its connections close
      pause     everybody stands still, wherever he is, until a lease or a wait is over
      lost      a command is done, and its reply never comes: the connection broke
      failover  another server takes over, which has not heard of the last write

    sql, sql_lock and sql_version run on a real PostgreSQL instead, which is started for it: two
    buyers, every order of their statements at each isolation level, no faults. SQLite is not
    explored, and lock:db_unique and lock:zookeeper cannot be.

    TARGET may also be a file of your own, my_sell.py, with a function sell(redis, buyer): `redis`
    is a client as redis.Redis() gives, the stock stands in the key stock, a sale is recorded by
    redis.rpush("orders", buyer), and the answer is True (sold), False (sold out) or None (gave up).

    Exit status: 0 nothing found, and all was looked at; 1 something found; 2 bad input;
    3 inconclusive.
    """
    if target is not None and explores(target):
        explore_sql(targets.Target(target, stock, quantity), all_findings, json_file)
    if matrix:
        show_matrix()
        return
    if target is None:
        raise click.UsageError("Say what to explore, as in `lastapple explore watch`; or --matrix.")
    check_writable(json_file)
    check_writable(save)
    chosen = _target(target, stock, quantity, retries == "default")
    people = Console(stderr=json_file == "-", highlight=False)
    try:
        with people.status(f"looking at every order of {chosen.name}'s steps …"), their_errors():
            if isinstance(chosen, Student):
                report = apart.explore(chosen, buyers, faults)
            else:
                explorer = Explorer(chosen, buyers)
                report = explorer.starve() if again else explorer.explore(faults)
    except KeyboardInterrupt:
        click.echo("Stopped; nothing was written.", err=True)
        sys.exit(130)
    show(people, report, all_findings)
    if isinstance(chosen, Student):
        people.print(f"it ran in a process of its own, within {IN_WORDS}", style="dim")
    for file in filter(None, (save, json_file)):
        write_json(file, report.document())
    if report.findings:
        sys.exit(FOUND)
    sys.exit(CLEAN if report.exhaustive else INCONCLUSIVE)


def show_matrix() -> None:
    """On standard output as Markdown, as it stands in the README; progress beside it."""
    found = []
    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("every order of everything", total=len(names()))
        for row in rows():
            found.append(row)
            bar.update(task, advance=1, description=row[0])
    click.echo(markdown(found), nl=False)


def _target(name: str, stock: int, quantity: int, resend: bool) -> targets.Target | Student:
    """Raises Invalid."""
    if name.endswith(".py"):
        return student(name, stock, quantity, resend)
    name = full_name(name)
    targets.check(name)
    return targets.Target(name, stock, quantity, resend=resend)


def show(people: Console, report: Report, all_findings: bool) -> None:
    color = "red" if report.findings else "green" if report.exhaustive else "yellow"
    people.print(verdict(report), style=f"bold {color}", markup=False)
    for nth, finding in enumerate(report.findings if all_findings else report.findings[:1]):
        if nth:
            people.print(*others([finding]), style="bold", markup=False)
        people.print()
        drawn = chart(finding.trace, LETTERS[: report.buyers], max(people.width, 80))
        people.print(drawn, markup=False, soft_wrap=True)
        people.print()
    rest = report.findings[1:]
    if rest and not all_findings:
        people.print("Found as well (--all-findings draws them):")
        for line in others(rest):
            people.print(f"  {line}", markup=False)
    for line in budget(report):
        people.print(line, style="dim", markup=False)
