"""`lastapple up`: the whole shop in the foreground."""

from __future__ import annotations

import fcntl
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import click

from app.cli import output
from app.cli.run import prepare
from app.config import Settings, is_loopback
from app.lab.classroom.addresses import lab_addresses, shop_addresses
from app.ops import processes, shared_settings
from app.ops.child import Child
from app.ops.shared_settings import lab_token
from app.ops.supervise import GivenUp, Supervisor
from app.service.rounds import check_default


@click.command(short_help="Start the whole shop, until Ctrl-C.")
def up() -> None:
    """Start store, database, shop, lab and fulfil, and keep them running until Ctrl-C."""
    output.warn_of_removed_settings()
    settings = output.settings()
    output.make_private(settings)
    _check(settings)
    with _alone(settings):
        if reasons := processes.unavailable(settings):
            raise click.ClickException("\n".join(reasons))
        _run(settings)


def _check(settings: Settings) -> None:
    """Check all errors that can be known before anything is started."""
    check_default(settings.default_mode)
    masters = [socket.with_suffix("") for socket in settings.master_sockets]
    replica = settings.var / "store" / "replica"
    for folder in (settings.var, settings.var / "store", replica, *masters, settings.var / "log"):
        try:
            folder.mkdir(parents=True, exist_ok=True)
            (folder / ".writable").touch()
            (folder / ".writable").unlink()
        except OSError as error:
            raise click.ClickException(
                f"Cannot write to {folder} ({error.strerror}). "
                "Repair it, or choose another folder: VAR_DIR=… make run"
            ) from error
    output.services().check_database()


@contextmanager
def _alone(settings: Settings) -> Iterator[None]:
    """Hold VAR_DIR for ourselves: two shops writing one folder would break each other's data."""
    with (settings.var / "lock").open("a+") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            lock.seek(0)
            raise click.ClickException(
                f"Last Apple is already running from {settings.var} "
                f"(process {lock.read().strip()}): {settings.shop_address}\n"
                "A second shop needs a folder and ports of its own: "
                "VAR_DIR=var2 SHOP_PORT=8010 LAB_PORT=8011 STORE_PORT=8012 make run"
            ) from error
        lock.truncate(0)
        lock.write(str(os.getpid()))
        lock.flush()
        yield


def _run(settings: Settings) -> None:
    supervisor = Supervisor(
        processes.children(settings), os.environ, _say, settings.standings, settings.hang_limit
    )

    def stop(*_: object) -> None:
        supervisor.stopping = True

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, stop)
    try:
        for child in supervisor.children:
            if child.name == "fulfil":  # the first process that needs tables and rounds
                _agree_on_settings(settings)
                click.get_current_context().invoke(prepare)
            serves = supervisor.start(child)
            if supervisor.stopping:
                break
            if serves:
                click.echo(f"  started  {child.name:<9} {_where(child, settings)}")
        if not supervisor.stopping:
            _welcome(settings)
        supervisor.watch()
    except GivenUp as error:
        raise click.ClickException(str(error)) from error
    finally:
        _say("Stopping …")
        supervisor.stop()
        _say("Stopped. Stock and orders are kept.")


def _agree_on_settings(settings: Settings) -> None:
    """Compare the settings with those of the store's hosts; an embedded store takes this host's.

    Raises HostsDiffer, StoreAway.
    """
    store = output.services().store
    agree = shared_settings.require_same if settings.redis_url else shared_settings.replace
    agree(store, settings)


def _say(text: str) -> None:
    """Print a line. A terminal that is gone, or a file on a full disk, must not end the shop."""
    with suppress(OSError):
        click.echo(text)


def _where(child: Child, settings: Settings) -> str:
    places: dict[str, str | Path] = {
        "store": f"Valkey on 127.0.0.1:{settings.store_port}, durability {settings.durability}",
        "replica": "has every sale before its buyer is told",
        "shop": settings.shop_address,
        "lab": settings.lab_address,
        "fulfil": "moves sales into the database",
    }
    return str(places.get(child.name, "one of the three masters of lock:redlock"))


def _who_can_reach(settings: Settings, token: str) -> list[str]:
    """Return warnings for servers that listen beyond loopback; empty if none does."""
    lines = []
    if not is_loopback(settings.shop_host):
        lines.append(
            "Every device in this machine's network can open the shop and buy: there are no "
            "accounts, and nothing\n  is encrypted. Phones join the class at"
            + _lines(shop_addresses(settings), "/class")
        )
        if is_loopback(settings.lab_host):
            lines.append("The lab answers to this machine only.")
    if not is_loopback(settings.lab_host) and token:
        lines.append(
            "A person with the token can start and end rounds, from another machine at"
            + _lines(lab_addresses(settings), f"/?token={token}")
        )
    elif not is_loopback(settings.lab_host):
        lines.append(
            "The lab asks for no token (LAB_TOKEN=off): make sure that no stranger reaches it."
        )
    return lines


def _lines(addresses: list[str], path: str) -> str:
    return (
        "".join(f"\n    {address}{path}" for address in addresses)
        or " no address: this machine has none."
    )


def _welcome(settings: Settings) -> None:
    click.secho(f"\n  Shop  {settings.shop_address}", bold=True)
    token = lab_token(settings)
    with_token = f"/?token={token}" if token else ""
    click.secho(f"  Lab   {settings.lab_address}{with_token}", bold=True)
    for line in _who_can_reach(settings, token):
        click.echo(f"\n  {line}")
    click.echo(f"\n  Data and logs in {settings.var}. Ctrl-C stops everything.\n")
