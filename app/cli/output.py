"""Output of the command line: errors in one line, tables for people, JSON for programs."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import orjson
from rich.console import Console
from rich.table import Column, Table
from rich.text import Text

from app.checks import BadSetting
from app.cli import clone
from app.config import Settings
from app.domain import Invalid, ShopError, StoreAway, UnknownItem
from app.ops import private

if TYPE_CHECKING:
    from app.bootstrap import Services
    from app.service.catalogue import CatalogueEntry

IS_IT_UP = "Is the shop up (make run)? If REDIS_URL is set: does its server run?"
SIDE_BY_SIDE = 160  # columns of a terminal; in a narrower one a table's cells become too tall

as_json = click.option("--json", "json_wanted", is_flag=True, help="Print JSON and nothing else.")
which_round = click.option(
    "--round", "number", type=int, help="Which round; the newest unless given."
)


class ClearErrors(click.Command):
    """Turns our errors into one clear line: status 2 for bad input, 1 for all others."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            with clone.its_libraries():
                return super().invoke(ctx)
        except (BadSetting, Invalid, UnknownItem) as error:
            raise click.UsageError(str(error)) from error
        except StoreAway as error:
            raise click.ClickException(f"{error} {IS_IT_UP}") from error
        except ShopError as error:
            raise click.ClickException(str(error)) from error


class Commands(ClearErrors, click.Group):
    """A group whose commands show their errors in one line."""


def settings() -> Settings:
    """Read the settings. Raises BadSetting."""
    return Settings.read(os.environ)


def warn_of_removed_settings() -> None:
    if "SHOP_COMBINE" in os.environ:
        gone = "SHOP_COMBINE is gone and changes nothing: remove it. For speed, use mode atomic."
        click.secho(gone, fg="yellow", err=True)


def make_private(settings: Settings) -> None:
    """Hide the files in VAR_DIR, and all that this process writes, from other users."""
    for sentence in private.make_private(settings.var):
        click.secho(f"  ! {sentence}", fg="yellow", err=True)


def services() -> Services:
    from app.bootstrap import Services  # here: it is slow to load, and not all need it

    return Services(settings())


def print_json(document: Any) -> None:
    click.echo(orjson.dumps(document, option=orjson.OPT_INDENT_2).decode())


def check_writable(file: str | None) -> None:
    """Check the file now, not after minutes of measuring. `-` is standard output."""
    if file is None or file == "-":
        return
    folder = Path(file).parent
    if not folder.is_dir():
        raise click.BadParameter(f"there is no folder {folder} to write {file} to")
    if not os.access(file if Path(file).exists() else folder, os.W_OK):
        raise click.BadParameter(f"{file} cannot be written")


def write_json(file: str, document: Any) -> None:
    """Write the document to the file, or to standard output for `-`."""
    try:
        with click.open_file(file, "wb") as to:
            to.write(_json(document))
    except OSError as error:
        raise click.ClickException(f"cannot write {file}: {error.strerror}") from error


def _json(document: Any) -> bytes:
    try:
        return orjson.dumps(document, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
    except TypeError:  # counts of schedules exceed 64 bits, which orjson cannot write
        return json.dumps(document, indent=2).encode() + b"\n"


def write_text(file: str, text: str) -> None:
    """Write a text to the file, or to standard output for `-`."""
    try:
        with click.open_file(file, "w", encoding="utf-8") as to:
            to.write(text)
    except OSError as error:
        raise click.ClickException(f"cannot write {file}: {error.strerror}") from error


def print_catalogue(kind: str, entries: list[CatalogueEntry], note: str) -> None:
    """Print each mode or recipe: side by side if the terminal has room, else one after the other.

    Those broken on purpose are labelled.
    """
    console = Console(highlight=False)
    if console.width >= SIDE_BY_SIDE:
        console.print(_side_by_side(kind, entries))
    else:
        for entry in entries:
            _print_one(console, entry)
    console.print(note, markup=False)


def _side_by_side(kind: str, entries: list[CatalogueEntry]) -> Table:
    table = Table(
        Column(kind, no_wrap=True), "Prevents", "Breaks", "Cost", "Sound", show_lines=True
    )
    for entry in entries:
        name = f"[bold]{entry.name}[/]"
        if entry.exhibit:
            name += "\n[red]broken on purpose[/]"
        table.add_row(name, entry.prevents, entry.breaks, entry.cost, entry.sound)
    return table


def _print_one(console: Console, entry: CatalogueEntry) -> None:
    title, _, exhibit = entry.title.partition(" An exhibit: ")
    label = (f" ({exhibit.rstrip('.')})", "red") if exhibit else ""
    console.print(Text.assemble((entry.name, "bold"), label, f": {title}"))
    lines = Table.grid(Column(no_wrap=True, style="dim"), Column(overflow="fold"), padding=(0, 2))
    for row in ("prevents", "breaks", "cost", "sound"):
        lines.add_row(f"  {row}", getattr(entry, row))
    console.print(lines)
    console.print()
