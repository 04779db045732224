"""Options of the commands that measure, checked before anything starts."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import reduce
from typing import TypeVar

import click

from loadtest import RunFailed
from loadtest.lab import LabRefused

Command = Callable[..., None]
T = TypeVar("T")
MOST = 512  # connections; a typing error must not swamp the machine
MOST_ORDERS = 2_000_000


def parsed(parse: Callable[[str], T]) -> Callable[..., T | None]:
    """Make a click callback of a function that parses a text."""
    return lambda _context, _option, text: None if text is None else parse(text)


def whole(most: int) -> Callable[[str], list[int]]:
    """Return a parser of "16,64": whole numbers from 1 to `most`, separated by commas."""

    def parse(text: str) -> list[int]:
        numbers = [part.strip() for part in text.split(",")]
        if not all(part.isascii() and part.isdigit() for part in numbers):
            raise click.BadParameter("give whole numbers with a comma between, as in 16,64")
        if not all(1 <= int(part) <= most for part in numbers):
            raise click.BadParameter(f"from 1 to {most:,} is possible")
        return sorted({int(part) for part in numbers})

    return parse


as_json = click.option(
    "--json",
    "json_file",
    type=click.Path(dir_okay=False, allow_dash=True),
    help="Write all rows to this file; - is standard output, with nothing else on it.",
)
repeats = click.option(
    "--repeats", default=3, type=click.IntRange(1, 50), help="How often each row is measured."
)


def window(seconds: int) -> Callable[[Command], Command]:
    return click.option(
        "--seconds", default=seconds, type=click.IntRange(1, 600), help="Of each measured window."
    )


def as_html(file: str) -> Callable[[Command], Command]:
    return click.option(
        "--html",
        "html_file",
        default=file,
        type=click.Path(dir_okay=False),
        help="Write the report there.",
    )


def common(html: str) -> Callable[[Command], Command]:
    """Add what `bench http` and `bench growth` share; the report goes to `html` by default."""
    threads = click.option(
        "--threads",
        type=click.IntRange(1, 512),
        help="Of each of our workers: so many purchases are under way.  [default: the shop's]",
    )
    options: tuple[Callable[[Command], Command], ...] = (
        window(3),
        repeats,
        threads,
        as_json,
        as_html(html),
    )
    return lambda command: reduce(lambda done, option: option(done), options, command)


@contextmanager
def one_line_errors() -> Iterator[None]:
    """Turn a failure into one line and Ctrl-C into status 130; SIGTERM unwinds as well."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        yield
    except LabRefused as refused:
        raise click.UsageError(str(refused)) from refused
    except RunFailed as failed:
        raise click.ClickException(str(failed)) from failed
    except KeyboardInterrupt:
        click.echo("Stopped; nothing was written.", err=True)
        sys.exit(130)
