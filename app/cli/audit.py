"""`lastapple audit`: compare the units sold with the units stocked."""

from __future__ import annotations

import sys
from dataclasses import asdict

import click
from rich.console import Console
from rich.table import Table

from app.cli import output, repairing
from app.domain import Lack, Lacking
from app.service.consistency import ConsistencyCheck
from app.service.verdict import COUNTED, SHOULD_BE_0, WHAT_IT_TOOK, Audit, Verdict

# Exit status by verdict; 1 is for an audit that failed, and 2 for bad input.
STATUS = {Verdict.UNTOUCHED: 0, Verdict.EXACT: 0, Verdict.SETTLING: 3}
WRONG = 4  # all others
COLOURS = {Verdict.UNTOUCHED: "blue", Verdict.EXACT: "green", Verdict.SETTLING: "yellow"}
BAD_NEWS = "red"  # all others


@click.command(short_help="Compare the units sold with the units stocked.")
@click.argument("item", default="apple")
@output.which_round
@click.option("--accept", is_flag=True, help="Sell again after store or database has lost data.")
@click.option("--repair", is_flag=True, help="Restore what the store or the database has lost.")
@click.option("--yes", is_flag=True, help="With --repair: do it; else only print the plan.")
@output.as_json
def audit(
    item: str, number: int | None, accept: bool, repair: bool, yes: bool, json_wanted: bool
) -> None:
    """Audit ITEM's round (default: apple): units stocked, sold and left, and the verdict.

    Exit status: 0 exact, or untouched (no purchase was tried); 1 the store or the database cannot
    be reached, or they do not match; 2 bad input; 3 settling; 4 wrong: oversold, undersold,
    inconsistent, or data lost by the store or the database.

    --accept audits no round. It prints what was lost of ITEM, and lets ITEM be sold again. --repair
    restores ITEM's rounds from the books, the store and the shop's workers. The rounds stay ended,
    and ITEM can be sold again. Without --yes, --repair only prints its plan: exit status 4 if there
    is something to repair.
    """
    if yes > repair or (repair and (accept or number is not None)):
        raise click.UsageError(
            "--yes goes with --repair; --repair neither with --accept nor --round."
        )
    services = output.services()
    if repair:
        services.check_database()
        sys.exit(repairing.repair(services.mend, item, yes, json_wanted))
    if accept:
        _accept(services.consistency, item)
        return
    try:
        services.rounds.newest(item)  # without a store, this raises the error to show
        services.consistency.look(item)
        audit = services.auditor.audit(services.rounds.find(item, number))
    except Lacking as error:
        _print_lack(error.lack, json_wanted)
        sys.exit(WRONG)
    if json_wanted:
        output.print_json(audit)
    else:
        _print(audit)
    sys.exit(STATUS.get(audit.verdict, WRONG))


def _accept(check: ConsistencyCheck, item: str) -> None:
    lack = check.accept(item)
    if lack is None:
        click.echo(f"The store lacks nothing of {item} that anybody has seen: nothing to accept.")
        return
    click.echo(f"Accepted: {lack.what}")
    click.echo(
        f"{item} can be sold again, in a round that is newer than all that were seen: "
        "lastapple round start. What only its buyer had seen stays lost."
    )


def _print_lack(lack: Lack, json_wanted: bool) -> None:
    """Print a loss in place of an audit: the store has no such round any more."""
    if json_wanted:
        judgement = {"verdict": Verdict.INCONSISTENT, "sentence": lack.sentence}
        output.print_json(asdict(lack) | judgement)
    else:
        click.echo(f"{click.style('INCONSISTENT', fg='red', bold=True)}  {lack.sentence}")


def _print(audit: Audit) -> None:
    console = Console()
    colour = COLOURS.get(audit.verdict, BAD_NEWS)
    console.print(f"[bold {colour}]{audit.verdict.value.upper()}[/]  {audit.sentence}")
    table = Table("", "", "", box=None, show_header=False, padding=(0, 1))
    for field, called, means in (*COUNTED, *SHOULD_BE_0, *WHAT_IT_TOOK):
        table.add_row(called, f"{getattr(audit, field):,}", f"[dim]{means}[/]")
    console.print(table)
    answers = ", ".join(f"{count:,} {name}" for name, count in audit.answers.items())
    console.print(f"Answers as the workers counted them: {answers}")
