"""The `lastapple` command, one module a subcommand group."""

from __future__ import annotations

from pkgutil import resolve_name
from typing import NamedTuple

import click

from app.cli import clone
from app.cli.output import Commands


class Entry(NamedTuple):
    where: str
    says: str  # its short help, so that listing all commands loads none


COMMANDS = {
    "up": Entry("app.cli.up:up", "Start the whole shop, until Ctrl-C."),
    "round": Entry("app.cli.round:round_group", "Start, end and show rounds."),
    "audit": Entry("app.cli.audit:audit", "Compare the units sold with the units stocked."),
    "check": Entry("app.cli.check:check", "Check that the shop can sell and book orders."),
    "pair": Entry("app.cli.pair:pair", "Move to another store or database on purpose."),
    "deadletter": Entry("app.cli.deadletter:deadletter", "Sales that could not be booked."),
    "modes": Entry("app.cli.modes:modes", "List the ways to sell."),
    "locks": Entry("app.cli.locks:locks", "List the ways to lock."),
    "compare": Entry(
        "app.cli.outside:compare", "Stampede a shop in several modes; what each costs."
    ),
    "bench": Entry("app.cli.outside:bench", "Measure locks and shops side by side."),
    "chaos": Entry(
        "app.cli.outside:chaos", "Break all that can break while buyers buy, and judge."
    ),
    "explore": Entry(
        "app.cli.explore:explore", "Try every order of the steps; show the shortest that fails."
    ),
    "replay": Entry("app.cli.replay:replay", "Play what `explore` found on a real server."),
    "transactions": Entry(
        "app.cli.transactions:transactions", "MULTI next to SQL's transactions, live."
    ),
    "hosts": Entry(
        "app.cli.hosts:hosts", "Compare this host's settings with those of its store's other hosts."
    ),
    "settings": Entry(
        "app.cli.settings:settings", "Show every setting, its value now, and what it does."
    ),
    "run": Entry("app.cli.run:run", "Run one process of the shop by itself (`up` runs them all)."),
    "prepare": Entry("app.cli.run:prepare", "Migrate the database, stock empty shelves."),
}


class Loaded(Commands):
    """A group that loads only the called command: `settings` takes 0.1 s, with all loaded 0.8 s."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        entry = COMMANDS.get(cmd_name)
        with clone.its_libraries():
            return resolve_name(entry.where) if entry else None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, COMMANDS[name].says) for name in sorted(COMMANDS)])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        clone.check(args[0])
        if args[0] not in COMMANDS and not args[0].startswith("-"):
            raise click.NoSuchCommand(args[0], possibilities=COMMANDS, ctx=ctx)
        return super().resolve_command(ctx, args)


@click.group(cls=Loaded, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="lastapple", prog_name="lastapple")
def main() -> None:
    """A flash-sale shop that sells the last apple, and a lab that shows how it goes wrong.

    Begin with `lastapple up`. Settings are environment variables, which `lastapple settings`
    lists.
    """
