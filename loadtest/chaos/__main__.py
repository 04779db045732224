"""`lastapple chaos`: inject faults of all kinds while buyers buy, and judge the answers they got.

Also `python -m loadtest.chaos`.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import click

from app.cli import output
from app.cli.interrupt import ends_at_ctrl_c, held_back
from app.config import DURABILITIES
from loadtest.chaos.faults import list_possible_faults
from loadtest.chaos.history import read
from loadtest.chaos.judge.judge import Verdict, judge
from loadtest.chaos.plan import plan_run
from loadtest.chaos.report import Report
from loadtest.chaos.run import RunOptions, parse_modes, run

COLOURS = {Verdict.AS_PROMISED: "green", Verdict.BROKEN: "red", Verdict.INCONCLUSIVE: "yellow"}


@click.command(cls=output.ClearErrors)
@click.option(
    "--minutes", type=click.FloatRange(0.1, 600), default=5.0, show_default=True, help="Of play."
)
@click.option("--seed", type=int, default=7, show_default=True, help="Same seed, same plan.")
@click.option("--modes", default="", help="Ways to sell, with commas between. [all sound ones]")
@click.option(
    "--database", type=click.Choice(["sqlite", "postgresql"]), default="sqlite", show_default=True
)
@click.option(
    "--durability",
    type=click.Choice(DURABILITIES),
    default="safe",
    show_default=True,
    help="Where a sale is when its buyer is told (docs/durability.md).",
)
@click.option("--holds", is_flag=True, help="Most rounds hold the units until they are paid for.")
@click.option("--plan", "plan_only", is_flag=True, help="Print the plan as JSON; break nothing.")
@click.option("--history", "kept", metavar="FILE", help="Keep the history, which is judged.")
@click.option("--html", metavar="FILE", help="Write the report for people.")
@click.option("--json", "json_file", metavar="FILE", help="Write the verdict as JSON; - prints it.")
def chaos(
    minutes: float,
    seed: int,
    modes: str,
    database: str,
    durability: str,
    holds: bool,
    plan_only: bool,
    kept: str | None,
    html: str | None,
    json_file: str | None,
) -> None:
    """Start a whole shop, break it while buyers buy, and check that it keeps its promises.

    The shop has its own processes, loopback ports and temporary folder; a shop that already runs
    is not touched. Exit status: 0 all promises were kept (docs/promises.md); 1 a promise was
    broken, or the result is inconclusive; 2 bad input; 130 after Ctrl-C.
    """
    postgresql = database == "postgresql"
    wanted = RunOptions(
        minutes, seed, parse_modes(modes, postgresql), postgresql, durability, holds
    )
    if plan_only:
        acts = plan_run(seed, minutes, wanted.modes, list_possible_faults(postgresql), holds)
        output.print_json([*acts])
        return
    for file in (kept, html, json_file):
        output.check_writable(file)
    with (
        ends_at_ctrl_c("Stopped: nothing was judged. All that was started has ended."),
        tempfile.TemporaryDirectory(prefix="lastapple-history-") as folder,
    ):
        history = Path(kept or f"{folder}/history.jsonl")
        history.unlink(missing_ok=True)
        with held_back() as gone:
            run(wanted, history, lambda said: click.echo(said, err=True), gone)
        with history.open("rb") as lines:
            judged = judge(read(lines))
    report = Report.of(judged)
    if json_file:
        output.write_json(json_file, report.document())
    if html:
        output.write_text(html, report.page())
    *details, sentence = report.lines()
    for line in details:  # on stderr, as --json may use stdout
        click.echo(line, err=True)
    click.secho(sentence, bold=True, fg=COLOURS[judged.verdict], err=True)
    sys.exit(judged.status)


if __name__ == "__main__":
    chaos(prog_name="lastapple chaos")
