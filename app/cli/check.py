"""`lastapple check`: can the shop sell and book? For people, and for containers' health checks."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from app.cli import output
from app.domain import StoreAway
from app.ops import durability_checks
from app.ops.readiness import Check, Readings, State

if TYPE_CHECKING:
    from app.bootstrap import Services

COLOURS = {State.OK: "green", State.UNWELL: "yellow", State.FAILING: "red"}


@click.command(short_help="Check that the shop can sell and book orders.")
@click.argument("what", type=click.Choice(["all", "fulfil"]), default="all")
def check(what: str) -> None:
    """Run the checks of the shop's /readyz without a request to the shop. Then check how safely the
    store keeps sales: its version, eviction, log and replicas.

    With `fulfil`, check only that process, on its own machine and with its VAR_DIR: does it run,
    and does no sale wait for long?

    Exit status: 0 if the shop can sell, even with warnings; 1 if a check fails.
    """
    services = output.services()
    if what == "all":
        health = services.readiness.look()
        named = {each.name for each in health.checks}
        health = Readings(
            (*health.checks, *(each for each in _kept(services) if each.name not in named))
        )
    else:
        health = Readings((_goes_on(services.heartbeat.awaited()), services.readiness.orders()))
    if any(each.name == "store" and each.state is State.FAILING for each in health.checks):
        click.echo(output.IS_IT_UP)
    for each in health.checks:
        click.echo(f"{click.style(each.state, COLOURS[each.state])}  {each.name}: {each.sentence}")
    sys.exit(0 if health.ready else 1)


def _kept(services: Services) -> list[Check]:
    """Return the durability checks; none when the store is away, as the first line says so."""
    try:
        return durability_checks.look(services.servers)
    except StoreAway:
        return []


def _goes_on(does: bool) -> Check:
    if does:
        return Check("fulfil", State.OK, "fulfil is running.")
    return Check("fulfil", State.FAILING, "fulfil is not running, or it hangs.")
