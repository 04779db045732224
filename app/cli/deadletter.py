"""`lastapple deadletter`: sales that fulfil could not book."""

from __future__ import annotations

import sys
import time
from typing import TypedDict

import click
from rich.console import Console
from rich.table import Column, Table
from rich.text import Text

from app.cli import output
from app.domain import iso
from app.service.dead_letters import DeadLetter

UNITS = ((86_400, "d"), (3_600, "h"), (60, "min"))  # s in each


@click.group(short_help="Sales that could not be booked.")
def deadletter() -> None:
    """Sales that could not be booked: look at them, book them after all, or drop them.

    fulfil puts here what it cannot read, what the database refuses for good, and a second sale
    under one idempotency key. Nothing is lost: each keeps its bytes and the reason, and the
    audit of its round counts it as not booked.
    """


@deadletter.command("list")
@click.argument("item", required=False, default="")
@click.option("--round", "number", type=int, help="Only of this round.")
@output.as_json
def list_them(item: str, number: int | None, json_wanted: bool) -> None:
    """List the dead letters of ITEM, or of all items; oldest first."""
    letters = output.services().dead_letters.every(item, number)
    if json_wanted:
        output.print_json([_letter(letter) for letter in letters])
        return
    if not letters:
        click.echo("No dead letters: every sale was booked, or will be.")
        return
    table = Table("Item", "Round", Column("Id", no_wrap=True), "Age", "Reason")
    for letter in letters:
        table.add_row(
            letter.item,
            str(letter.round),
            letter.id,
            _age(letter.added),
            Text(_clean(letter.reason)),
        )
    Console().print(table)


@deadletter.command()
@click.argument("item")
@click.argument("id")
@output.as_json
def show(item: str, id: str, json_wanted: bool) -> None:
    """Show one, with what was in the stream; what cannot be printed is escaped."""
    letter = output.services().dead_letters.find(item, id)
    if json_wanted:
        output.print_json(_letter(letter))
        return
    click.echo(f"{letter.item}, round {letter.round}: {letter.id}, since {_age(letter.added)}")
    click.echo(f"  reason  {_clean(letter.reason)}")
    click.echo(f"  entry   {_clean(letter.entry)} of the round's stream")
    click.echo(f"  units   {letter.put_back or 'none'} put back into stock")
    click.echo(f"  sale    {_clean(_text(letter))}")


@deadletter.command()
@click.argument("item")
@click.argument("ids", nargs=-1, metavar="[ID]...")
@click.option("--all", "every", is_flag=True, help="All of ITEM's.")
def retry(item: str, ids: tuple[str, ...], every: bool) -> None:
    """Book some of ITEM's after all: once the cause is repaired, or after an upgrade.

    The exit status is 1 when one still cannot be booked; it stays where it is.
    """
    if bool(ids) == every:
        raise click.UsageError("Give the ids of those to be booked, or --all.")
    dead_letters = output.services().dead_letters
    letters = dead_letters.every(item) if every else [dead_letters.find(item, id) for id in ids]
    failed = False
    for letter in letters:
        why = dead_letters.retry(letter)
        failed = failed or bool(why)
        click.echo(f"  {letter.id}  {f'still not booked: {_clean(why)}' if why else 'booked'}")
    sys.exit(failed)


@deadletter.command()
@click.argument("item")
@click.argument("id")
@click.option("--yes", is_flag=True, help="Do not ask.")
def drop(item: str, id: str, yes: bool) -> None:
    """Delete one for good: when it never was a sale, or its buyer has been paid back."""
    dead_letters = output.services().dead_letters
    letter = dead_letters.find(item, id)
    click.echo(f"  {letter.item}, round {letter.round}: {_clean(letter.reason)}")
    click.echo(f"  {_clean(_text(letter))[:500]}")
    units = "Its units are back in stock" if letter.put_back else "Its units stay missing"
    click.echo(
        "  If a customer was told that this is sold, there will be no order. "
        f"{units}. If it can be read, its key and its page say for a day that it was cancelled."
    )
    if not yes:
        click.confirm("Delete it for good?", abort=True)
    dead_letters.drop(letter)
    click.echo("  dropped")


class Letter(TypedDict):
    """A dead letter for programs; its members are a DeadLetter's."""

    item: str
    round: int
    id: str
    entry: str
    added_at: str | None  # ISO 8601 in UTC
    reason: str
    sale: str  # bytes that are no text are escaped
    put_back: int


def _letter(letter: DeadLetter) -> Letter:
    return {
        "item": letter.item,
        "round": letter.round,
        "id": letter.id,
        "entry": letter.entry,
        "added_at": iso(letter.added),
        "reason": letter.reason,
        "sale": _text(letter),
        "put_back": letter.put_back,
    }


def _text(letter: DeadLetter) -> str:
    return letter.sale.decode(errors="backslashreplace")


def _clean(text: str) -> str:
    """Escape control characters: strangers wrote the text, and it must not control the terminal."""
    return "".join(each if each.isprintable() else repr(each)[1:-1] for each in text)


def _age(at: int) -> str:
    """Return the age, in one unit."""
    seconds = max(0, int(time.time() - at / 1000))
    for length, unit in UNITS:
        if seconds >= length:
            return f"{seconds // length} {unit}"
    return f"{seconds} s"
