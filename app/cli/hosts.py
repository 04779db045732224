"""`lastapple hosts`: the settings that all hosts of a store must share."""

from __future__ import annotations

import click

from app.cli import output
from app.domain import HostsDiffer
from app.ops import shared_settings


@click.command(short_help="Compare this host's settings with those of its store's other hosts.")
@click.option("--replace", is_flag=True, help="Let this host's settings count from now on.")
def hosts(replace: bool) -> None:
    """Compare this host's secret, DURABILITY and ZOOKEEPER_HOSTS with those of its store's hosts.

    A host that differs does not start. With --replace this host's settings count from now on: hosts
    that still run with others should be stopped before, or know the new secret (SECRET_KEY_OLD).

    The exit status is 0 when they are the same, 1 when they differ.
    """
    services = output.services()
    if replace:
        shared_settings.replace(services.store, services.settings)
        click.echo("The settings of this host count now.")
    elif differences := shared_settings.differences(services.store, services.settings):
        raise HostsDiffer(" ".join(differences))
    else:
        click.echo("This host has the settings of its store's other hosts.")
