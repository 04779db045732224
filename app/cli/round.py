"""`lastapple round`: start, end and show rounds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import Any

import click

from app.cli import output
from app.domain import ROUND_BOUNDS, Round
from app.service.round_view import view, warnings


def _help(name: str, text: str) -> str:
    """Return `text` with the bounds and the default that a round has for this field."""
    bound, default = ROUND_BOUNDS[name], {row.name: row.default for row in fields(Round)}[name]
    return f"{text} [{bound.low} to {bound.high:,}; {default:,} unless given]"


def _time(name: str, text: str) -> Callable[[Any], Any]:
    """Return an option in ms with the name that HTTP uses."""
    return click.option(f"--{name}-ms", name, type=int, help=_help(name, text))


@click.group("round", short_help="Start, end and show rounds.")
def round_group() -> None:
    """Start, end and show rounds: one sale of one item in one mode."""


@round_group.command()
@click.argument("item")
@click.option("--stock", type=int, required=True, help="Units for sale.")
@click.option(
    "--mode", help="Way to sell, e.g. watch or lock:lease. [DEFAULT_MODE unless given: atomic]"
)
@_time("think", "Between reading the stock and writing it.")
@_time("lease", "A lock's lifetime.")
@_time("wait", "A buyer's patience.")
@click.option("--attempts", type=int, help=_help("attempts", "Most tries of one purchase."))
@click.option("--limit", type=int, help=_help("limit", "Most units in one order."))
@click.option(
    "--per-buyer", type=int, help=_help("per_buyer", "Most units of one buyer; 0: no limit.")
)
@_time("delay", "Until it opens.")
@_time("hold", "To pay in; 0: what is bought is sold at once.")
@output.as_json
def start(item: str, stock: int, mode: str | None, json_wanted: bool, **times: int | None) -> None:
    """Start a round of ITEM; ends the one that is running."""
    given = {name: value for name, value in times.items() if value is not None}
    wanted = output.settings().default_mode if mode is None else mode
    _show(output.services().rounds.start(item, wanted, stock, given), None, json_wanted)


@round_group.command()
@click.argument("item")
@output.as_json
def end(item: str, json_wanted: bool) -> None:
    """End ITEM's running round."""
    rounds = output.services().rounds
    ended = rounds.end(item)
    _show(ended, rounds.left(ended), json_wanted)


@round_group.command()
@click.argument("item", default="apple")
@output.which_round
@output.as_json
def show(item: str, number: int | None, json_wanted: bool) -> None:
    """Show ITEM's round (apple unless given)."""
    rounds = output.services().rounds
    round = rounds.find(item, number)
    _show(round, rounds.left(round), json_wanted)


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" + ("" if number == 1 else "s")


def _show(round: Round, left: int | None, json_wanted: bool) -> None:
    if json_wanted:
        output.print_json({**view(round), "left": left})
        return
    state = "running" if round.running else "ended"
    label = " (broken on purpose)" if view(round)["exhibit"] else ""
    click.echo(f"Round {round.number} of {round.item}, {state}: mode {round.mode}{label}")
    stock = f"{round.stock:,} stocked" + ("" if left is None else f", {left:,} left")
    click.echo(
        f"  {stock}; think {round.think} ms, lease {round.lease} ms, wait {round.wait} ms, "
        f"{_count(round.attempts, 'attempt')}, {_count(round.limit, 'unit')} an order"
        + (f", {_count(round.per_buyer, 'unit')} a buyer" if round.per_buyer else "")
        + (f", opens {round.delay / 1000:g} s after its start" if round.delay else "")
        + (f", {round.hold / 1000:g} s to pay in" if round.hold else "")
    )
    for warning in warnings(round):
        click.secho(f"  ! {warning}", fg="yellow")
