"""`lastapple run`: one process of the shop by itself, for containers and other supervisors."""

from __future__ import annotations

import logging
import os
import signal
import threading

import click

from app.bootstrap import Services
from app.cli import interrupt, output
from app.config import Settings
from app.domain import ITEMS, StoreAway
from app.ops import durability_checks, processes, shared_settings
from app.ops.readiness import State


@click.group()
def run() -> None:
    """Run one process of the shop by itself (`up` runs them all)."""
    output.warn_of_removed_settings()
    output.make_private(output.settings())


@run.command()
def shop() -> None:
    """The customers' server."""
    services = output.services()
    try:
        shared_settings.require_same(services.store, services.settings)
    except StoreAway as error:  # the shop gives buyers this error until the store is back
        click.secho(f"  ! Its settings are not compared with other hosts': {error}", err=True)
    _become(processes.shop(services.settings))


@run.command()
def lab() -> None:
    """The instructor's server."""
    _become(processes.lab(output.settings()))


@run.command()
def fulfil() -> None:
    """Move sales from the store into the database."""
    logging.basicConfig(format="%(asctime)s %(levelname)s %(message)s")
    os.nice(10)
    stop = interrupt.told_to_stop(signal.SIGTERM, signal.SIGINT)
    services = output.services()
    services.check_database()
    for consumer in services.fulfil.consumers:
        consumer.beat = services.heartbeat.give
    services.consistency.pairing.watch(stop)
    threading.Thread(
        target=services.consistency.keep_watch, args=(stop,), name="consistency", daemon=True
    ).start()
    for item in ITEMS:  # a thread each, so that no item waits for another
        sweep = threading.Thread(target=services.sweep.run, args=(item, stop), name=f"sweep {item}")
        sweep.daemon = True
        sweep.start()
    services.fulfil.run(stop)


@run.command(hidden=True)
@click.argument("id")
def stampede(id: str) -> None:
    """Drive a run of the lab, which starts this by itself."""
    stop, services = _driver()
    services.drive(stop).run(services.runs.find(id))


@run.command(hidden=True)
@click.argument("id")
def comparison(id: str) -> None:
    """Conduct a comparison of the lab, which starts this by itself."""
    stop, services = _driver()
    services.conduct(stop).run(services.comparisons.find(id))


def _driver() -> tuple[threading.Event, Services]:
    """Return the services and an event that is set when this process must stop."""
    logging.basicConfig(format="%(asctime)s %(levelname)s %(message)s")
    return interrupt.told_to_stop(signal.SIGTERM), output.services()


@click.command(short_help="Migrate the database, stock empty shelves.")
def prepare() -> None:
    """Bring the database's tables up to date, and stock what never was on sale."""
    settings = output.settings()
    output.make_private(settings)
    services = Services(settings)
    with services.preparing():
        _prepare(services)


def _prepare(services: Services) -> None:
    services.migrate()
    address = services.engine.url.render_as_string(hide_password=True)
    click.echo(f"  migrated database {address}")
    _see_how_it_is_kept(services)
    for sentence in services.consistency.look_at_all():
        click.secho(f"  ! {sentence}", fg="red")
    for round in services.rounds.open_shop(services.settings.default_mode):
        click.echo(f"  stocked  {round.item:<7} {round.stock} units, mode {round.mode}")


def _see_how_it_is_kept(services: Services) -> None:
    """Print the store's durability warnings; of the embedded store only errors that stop us."""
    checks = durability_checks.look(services.servers)
    for each in services.readiness.connections():
        click.secho(f"  ! {each.name}: {each.sentence}", fg="yellow")
    for each in checks:
        if each.state is State.FAILING:
            raise click.ClickException(f"{each.name}: {each.sentence}")
        if services.settings.redis_url:
            mark = "!" if each.state is State.UNWELL else " "
            click.secho(
                f"  {mark} {each.name}: {each.sentence}", fg="yellow" if mark == "!" else None
            )


def _become(command: list[str]) -> None:
    Settings.read(os.environ)
    os.execv(command[0], command)
