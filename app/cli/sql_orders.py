"""`lastapple explore sql`: every order of a SQL mode's statements, on a real PostgreSQL."""

from __future__ import annotations

import logging
import sys
from typing import NoReturn

import click
from badluck.report.chart import chart
from click.core import ParameterSource
from rich.console import Console

from app.cli.interrupt import ends_at_ctrl_c, held_back
from app.cli.output import check_writable, write_json
from app.domain import Invalid, ShopError
from app.explorer.sql.database import check
from app.explorer.sql.explore import explore
from app.explorer.sql.report import SqlReport, budget, line, verdict
from app.explorer.targets import Target
from app.explorer.vocabulary import VOCABULARY

CLEAN, FOUND, INCONCLUSIVE = 0, 1, 3  # exit status, as of all explorations
NOT_HERE = ("buyers", "faults", "again", "retries", "save", "matrix", "markdown")  # options
BUYERS = 2


class Unfinished(click.ClickException):
    """Raised when the server failed. Status 1 would mean that something was found."""

    exit_code = INCONCLUSIVE


def explore_sql(target: Target, all_findings: bool, json_file: str | None) -> NoReturn:
    """Explore and end the command with its exit status.

    Raises Invalid for options that SQL does not have.
    """
    _refuse(target.name)
    check_writable(json_file)
    check()
    # Its traceback for a server that dies is replaced by a sentence.
    logging.getLogger("sqlalchemy.pool").setLevel(logging.CRITICAL)
    people = Console(stderr=json_file == "-", highlight=False)
    try:
        with (
            ends_at_ctrl_c("Stopped; nothing was written."),
            held_back() as leaving,  # asked between two runs
            people.status(f"running every order of {target.name}'s statements …"),
        ):
            report = explore(target, leaving)
    except ShopError as error:
        raise Unfinished(str(error)) from error
    show(people, report, all_findings)
    if json_file:
        write_json(json_file, report.document())
    if report.findings:
        sys.exit(FOUND)
    sys.exit(CLEAN if report.exhaustive else INCONCLUSIVE)


def _refuse(name: str) -> None:
    """Refuse an option that would be ignored: it must not look as if it counted."""
    context = click.get_current_context()
    for option in NOT_HERE:
        is_given = context.get_parameter_source(option) is ParameterSource.COMMANDLINE
        if is_given and not (option == "buyers" and context.params[option] == BUYERS):
            raise Invalid(
                {
                    option: f"--{option} is not for {name}: in SQL there are {BUYERS} buyers, no "
                    "faults, and nothing to replay. Leave it out."
                }
            )


def show(people: Console, report: SqlReport, all_findings: bool) -> None:
    color = "red" if report.findings else "green" if report.exhaustive else "yellow"
    people.print(verdict(report), style=f"bold {color}", markup=False)
    wide = max(people.width, 80)
    for nth, (level, finding) in enumerate(report.findings[: None if all_findings else 1]):
        if nth:
            people.print(line(level, finding), style="bold", markup=False)
        people.print()
        people.print(chart(finding.trace, "AB", wide, VOCABULARY), markup=False, soft_wrap=True)
        people.print()
    rest = report.findings[1:]
    if rest and not all_findings:
        people.print("Found as well (--all-findings draws them):")
        for level, finding in rest:
            people.print(f"  {line(level, finding)}", markup=False)
    waits = next((each for each in report.levels if each.blocks), None)
    if waits and not report.findings:
        people.print(f"One order in which a buyer waits for the other, at {waits.level}:\n")
        people.print(chart(waits.blocks, "AB", wide, VOCABULARY), markup=False, soft_wrap=True)
        people.print()
    for text in budget(report):
        people.print(text, style="dim", markup=False)
