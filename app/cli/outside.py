"""Commands of loadtest/, each a process of its own: `compare`, `chaos` and the group `bench`.

The application imports nothing that loads or breaks it.
"""

from __future__ import annotations

import os
import sys

import click


def started(name: str, says: str, *module: str) -> click.Command:
    """A command that becomes `python -m` of `module`, with the user's arguments."""

    @click.command(
        name,
        short_help=says,
        context_settings={"ignore_unknown_options": True, "help_option_names": []},
        add_help_option=False,
    )
    @click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
    def start(arguments: tuple[str, ...]) -> None:
        os.execv(sys.executable, [sys.executable, "-m", *module, *arguments])

    return start


compare = started(
    "compare", "Stampede a shop in several modes; what each costs.", "loadtest.compare"
)
chaos = started("chaos", "Break all that can break while buyers buy, and judge.", "loadtest.chaos")


@click.group("bench", short_help="Measure locks and shops side by side.")
def bench() -> None:
    """Measure ways to do the same thing side by side."""


for name, says, module in (
    ("locks", "Our locks and other libraries' locks, under contention.", "loadtest.bench"),
    ("fulfil", "How fast sales become orders, and for how much.", "loadtest.bench"),
    ("http", "Purchases a second, compared with the usual shop.", "loadtest.throughput"),
    ("growth", "Sales and p99 with more contenders, items, orders.", "loadtest.throughput"),
):
    bench.add_command(started(name, says, module, name))
