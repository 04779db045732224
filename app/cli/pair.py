"""`lastapple pair`: pair a store and a database that were not paired before."""

from __future__ import annotations

import sys

import click

from app.cli import output
from app.domain import ITEMS, WrongPair

TO_DO = 4  # the exit status where some items are still to be paired


@click.command(short_help="Move to another store or database on purpose.")
@click.option("--yes", is_flag=True, help="Do it; else only print what it would do.")
def pair(yes: bool) -> None:
    """Let the store and the database of the settings belong together, in place of those before.

    Until then nothing is sold from a pair that does not match. If one of the two is new, it lacks
    what the one before had: that is said, and is then for `audit ITEM --repair` or `--accept`.

    The exit status is 0 when all items match, 4 when some do not and nothing was done.
    """
    services = output.services()
    wrong: dict[str, WrongPair] = {}
    for item in ITEMS:
        try:
            services.consistency.pairing.check(item)
        except WrongPair as error:
            wrong[item] = error
    if not wrong:
        click.echo("Store and database match.")
        return
    click.echo(f"{', '.join(wrong)}: {next(iter(wrong.values()))}")
    if not yes:
        click.echo("Nothing was changed. To pair them: lastapple pair --yes")
        sys.exit(TO_DO)
    for item in wrong:
        services.consistency.pair(item)
    click.echo(f"Paired: {', '.join(wrong)}.")
    for sentence in services.consistency.look_at_all():
        click.echo(sentence)
