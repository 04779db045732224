"""The `lastapple` command, one module a subcommand group."""

from __future__ import annotations

import click

from app import __version__
from app.cli.audit import audit
from app.cli.bench import bench
from app.cli.compare import compare
from app.cli.explore import explore
from app.cli.locks import locks
from app.cli.modes import modes
from app.cli.output import Commands
from app.cli.replay import replay
from app.cli.round import round_group
from app.cli.run import prepare, run
from app.cli.settings import settings
from app.cli.transactions import transactions
from app.cli.up import up


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="lastapple")
def main() -> None:
    """A flash-sale shop that sells the last apple, and a lab that shows how it goes wrong.

    Begin with `lastapple up`; everything is set by environment variables, which
    `lastapple settings` lists.
    """


for command in (
    up,
    round_group,
    audit,
    modes,
    locks,
    compare,
    bench,
    explore,
    replay,
    transactions,
    settings,
    run,
    prepare,
):
    main.add_command(command)
