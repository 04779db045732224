"""`lastapple explore`: every order of execution, on the real code."""

from __future__ import annotations

import sys

import click
from badluck.errors import BadluckError
from badluck.explorer import Explorer
from badluck.faults import FAULTS, Faults
from badluck.report.chart import chart
from badluck.report.report import Report
from badluck.report.verdict import budget, other_findings, verdict
from badluck.sandbox.limits import LIMITS_TEXT
from badluck.search.names import LETTERS
from badluck.target import ACTORS
from click.core import ParameterSource
from rich.console import Console
from rich.text import Text

from app.cli.interrupt import ends_at_ctrl_c
from app.cli.matrix import show_matrix
from app.cli.output import check_writable, write_json
from app.cli.targets import check, is_repair, repair, sale
from app.cli.user_code_errors import their_errors
from app.explorer import sandbox, targets
from app.explorer.book import UNITS
from app.explorer.student import Student


class FaultsType(click.ParamType[Faults]):
    """`crash=1,pause=2`: how often each fault may happen."""

    name = "faults"

    def convert(
        self, value: str | Faults, param: click.Parameter | None, ctx: click.Context | None
    ) -> Faults:
        if isinstance(value, Faults):
            return value
        try:
            return Faults.parse(value)
        except BadluckError as error:
            self.fail(str(error), param, ctx)


class Seen:
    """The progress, read by the spinner when it is drawn: the search need not report it."""

    def __init__(self, doing: str, explorer: Explorer) -> None:
        self.doing = doing
        self.explorer = explorer

    def __rich__(self) -> Text:
        return Text(f"{self.doing} … {self.explorer.seen:,} states so far")


MEANINGS = "\n".join(f"{fault.name:<9} {fault.meaning}" for fault in FAULTS.values())
CLEAN, FOUND, INCONCLUSIVE = 0, 1, 3  # exit status; 2 is for bad input


@click.command(
    short_help="Try every order of the steps; show the shortest that fails.",
    context_settings={"show_default": True, "max_content_width": 100},
)
@click.argument("target", required=False)
@click.option(
    "--matrix",
    is_flag=True,
    help="All modes against every fault, as a table; mostly with three buyers. Also with --holds.",
)
@click.option("--markdown", is_flag=True, help="The matrix in Markdown, as in docs/matrix.md.")
@click.option("--buyers", default=2, type=click.IntRange(*ACTORS), help="How many buy at once.")
@click.option("--stock", default=1, type=click.IntRange(*UNITS), help="Units on the shelf.")
@click.option("--quantity", default=1, type=click.IntRange(*UNITS), help="Units each one wants.")
@click.option(
    "--per-buyer",
    default=0,
    type=click.IntRange(0, UNITS[1]),
    help="Most units of one buyer; 0: no limit. With it all are one buyer, at several windows.",
)
@click.option(
    "--holds",
    is_flag=True,
    help="In a round whose buyers hold first and then pay. A pays at once, B too late, C cancels "
    "what A holds and sweeps; what else can be wrong, docs/explorer.md says.",
)
@click.option(
    "--faults",
    default="crash=1,pause=1",
    type=FaultsType(),
    help=f"How often each of these may happen; none for none.\n\n\b\n{MEANINGS}",
)
@click.option(
    "--again",
    is_flag=True,
    help="Instead of faults: do buyers who come again and again keep buyer A waiting forever?",
)
@click.option(
    "--retries",
    default="0",
    type=click.Choice(["0", "default"]),
    help="How often the client sends again: never, as in the shop, or as redis-py does by default.",
)
@click.option("--all-findings", is_flag=True, help="Draw every finding, not only the worst.")
@click.option(
    "--save",
    type=click.Path(dir_okay=False),
    help="Write all schedules to this file, for `lastapple replay`.",
)
@click.option(
    "--json",
    "json_file",
    type=click.Path(dir_okay=False, allow_dash=True),
    help="Write all that was found to this file; - is standard output, with nothing else on it.",
)
@click.pass_context
def explore(
    ctx: click.Context,
    target: str | None,
    matrix: bool,
    markdown: bool,
    buyers: int,
    stock: int,
    quantity: int,
    per_buyer: int,
    holds: bool,
    faults: Faults,
    again: bool,
    retries: str,
    all_findings: bool,
    save: str | None,
    json_file: str | None,
) -> None:
    """Run TARGET's real code through every order of its steps, and show the shortest that fails.

    TARGET is a mode, or mode:recipe: watch, lock:lease. Each buyer stops at every command that it
    sends, until the search lets it continue. The server is a model of Redis, which is checked
    against real servers. --faults lists what else may go wrong.

    sql, sql_lock, sql_version and sql_units run on a real PostgreSQL instead, which the command
    starts: two buyers, every order of their statements at each isolation level, no faults. SQLite,
    lock:db_unique and lock:zookeeper cannot be explored.

    TARGET may also be your own file, such as my_sell.py, with a function sell(redis, buyer). Its
    `redis` is a client like redis.Redis(). The key stock holds the units, and a sale is recorded by
    redis.rpush("orders", buyer). Return True (sold), False (sold out) or None (gave up).

    repair is `lastapple audit --repair` on a store that has lost sales. A and B repair the store at
    the same time; with three actors C runs --accept. In repair:fulfil B is fulfil, which moves the
    remaining sales.

    Exit status: 0 nothing found in a complete search; 1 something found; 2 bad input;
    3 inconclusive.
    """
    check(target, per_buyer, holds, again)
    if target is not None and targets.in_sql(target):
        from app.cli.sql_orders import explore_sql  # here: the store's modes need no SQL

        explore_sql(targets.Target(target, stock, quantity), all_findings, json_file)
    given = _given(ctx)
    if matrix:
        if others := given - {"--matrix", "--markdown", "--holds"}:
            raise click.UsageError(
                f"--matrix explores all targets in the same way: leave out {_listed(others)}."
            )
        with ends_at_ctrl_c("Stopped. A matrix is shown only when it is complete."):
            show_matrix(holds, markdown)
        return
    if markdown:
        raise click.UsageError("--markdown is for --matrix.")
    if target is None:
        raise click.UsageError("Say what to explore, as in `lastapple explore watch`; or --matrix.")
    if again and "--faults" in given:
        raise click.UsageError("--again is asked without faults: leave out one of the two.")
    check_writable(json_file)
    check_writable(save)
    chosen = (
        repair(target, buyers, given)
        if is_repair(target)
        else sale(target, stock, quantity, retries == "default", per_buyer, holds)
    )
    if again and isinstance(chosen, Student):
        raise click.UsageError("--again is for modes, not for a file of your own.")
    people = Console(stderr=json_file == "-", highlight=False)
    with ends_at_ctrl_c("Stopped; nothing was written."):
        report = search(people, chosen, buyers, None if again else faults)
    # Saved before it is drawn: `| head` must not cost the file.
    for file in filter(None, (save, json_file)):
        write_json(file, report.document())
    show(people, report, all_findings)
    if isinstance(chosen, Student):
        people.print(f"it ran in a process of its own, within {LIMITS_TEXT}", style="dim")
    if report.findings:
        sys.exit(FOUND)
    sys.exit(CLEAN if report.exhaustive else INCONCLUSIVE)


def _given(ctx: click.Context) -> set[str]:
    """Return the parameters on the command line, as one types them: `TARGET`, `--buyers`."""
    return {
        param.opts[0] if isinstance(param, click.Option) else param.human_readable_name
        for param in ctx.command.params
        if ctx.get_parameter_source(param.name or "") is ParameterSource.COMMANDLINE
    }


def _listed(options: set[str]) -> str:
    return ", ".join(sorted(options))


def search(
    people: Console, chosen: targets.Target | Student, buyers: int, faults: Faults | None
) -> Report:
    """Search the target; with `faults` None, search whether A can be starved."""
    looking = f"looking at every order of {chosen.name}'s steps"
    if isinstance(chosen, Student):
        with people.status(f"{looking} …"), their_errors():
            return sandbox.explore(chosen, buyers, faults or Faults())
    explorer = Explorer(chosen, buyers)
    with people.status(Seen(looking, explorer)):
        return explorer.starve() if faults is None else explorer.explore(faults)


def show(people: Console, report: Report, all_findings: bool) -> None:
    for cause in report.causes:
        people.print(cause, style="yellow", markup=False)
    color = "red" if report.findings else "green" if report.exhaustive else "yellow"
    people.print(verdict(report), style=f"bold {color}", markup=False)
    names, wide = LETTERS[: report.actors], max(people.width, 80)
    for nth, finding in enumerate(report.findings if all_findings else report.findings[:1]):
        if nth:
            people.print(*other_findings([finding]), style="bold", markup=False)
        people.print()
        drawn = chart(finding.trace, names, wide, report.target.vocabulary)
        people.print(drawn, markup=False, soft_wrap=True)
        people.print()
    rest = report.findings[1:]
    if rest and not all_findings:
        people.print("Found as well (--all-findings draws them):")
        for line in other_findings(rest):
            people.print(f"  {line}", markup=False)
    for line in budget(report):
        people.print(line, style="dim", markup=False)
