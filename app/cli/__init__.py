"""The `lastapple` command, one module a subcommand group."""

from __future__ import annotations

from pkgutil import resolve_name

import click

from app.cli import clone
from app.cli.output import Commands

COMMANDS = {
    "up": "app.cli.up:up",
    "round": "app.cli.round:round_group",
    "audit": "app.cli.audit:audit",
    "check": "app.cli.check:check",
    "deadletter": "app.cli.deadletter:deadletter",
    "modes": "app.cli.modes:modes",
    "locks": "app.cli.locks:locks",
    "compare": "app.cli.compare:compare",
    "bench": "app.cli.bench:bench",
    "chaos": "app.cli.chaos:chaos",
    "explore": "app.cli.explore:explore",
    "replay": "app.cli.replay:replay",
    "transactions": "app.cli.transactions:transactions",
    "settings": "app.cli.settings:settings",
    "run": "app.cli.run:run",
    "prepare": "app.cli.run:prepare",
}


class Loaded(Commands):
    """A command is loaded when it is asked for: `settings` answers in 0.1 s, with all in 0.8."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        where = COMMANDS.get(cmd_name)
        with clone.its_libraries():
            return resolve_name(where) if where else None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        clone.check(args[0])
        return super().resolve_command(ctx, args)


@click.group(cls=Loaded, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="lastapple", prog_name="lastapple")
def main() -> None:
    """A flash-sale shop that sells the last apple, and a lab that shows how it goes wrong.

    Begin with `lastapple up`. Settings are environment variables, which `lastapple settings`
    lists.
    """
