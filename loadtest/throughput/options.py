"""What both commands are asked for, checked before anything starts."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce

import click

MOST = 512  # connections; a typing error must not swamp the machine
MOST_ORDERS = 2_000_000


def whole(most: int) -> Callable[[str], list[int]]:
    """Parses "16,64": whole numbers from 1 to `most`, with commas between."""

    def parse(text: str) -> list[int]:
        numbers = [part.strip() for part in text.split(",")]
        if not all(part.isascii() and part.isdigit() for part in numbers):
            raise click.BadParameter("give whole numbers with a comma between, as in 16,64")
        if not all(1 <= int(part) <= most for part in numbers):
            raise click.BadParameter(f"from 1 to {most:,} is possible")
        return sorted({int(part) for part in numbers})

    return parse


def common(html: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """The options that both have; `html` is where the report goes, if nothing else is said."""
    options = (
        click.option("--seconds", default=3, type=click.IntRange(1, 600), help="Of each window."),
        click.option("--repeats", default=3, type=click.IntRange(1, 50), help="Of each row."),
        click.option(
            "--threads",
            type=click.IntRange(1, 512),
            help="Of each of our workers: so many purchases are under way.  [default: the shop's]",
        ),
        click.option(
            "--json",
            "json_file",
            type=click.Path(dir_okay=False, allow_dash=True),
            help="Write all rows there; - is standard output, with nothing else on it.",
        ),
        click.option(
            "--html",
            "html_file",
            default=html,
            type=click.Path(dir_okay=False),
            help="Write the report there.",
        ),
    )
    return lambda command: reduce(lambda done, option: option(done), options, command)
