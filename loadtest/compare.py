"""`lastapple compare`: the cost of each way of selling, and its sales.

Also `python -m loadtest.compare`. Exit status 0: the run worked, whatever the modes did; 1: it
could not be finished; 2: bad input; 130: Ctrl-C.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict
from datetime import datetime
from pathlib import Path

import click
from rich.console import Console

from loadtest import RunFailed
from loadtest.inputs import check_modes, check_threads, lab_url_for, parse_modes, parse_url
from loadtest.lab import Lab
from loadtest.machine import Machine, describe
from loadtest.options import as_html, as_json, one_line_errors, parsed, repeats, window
from loadtest.progress import Steps
from loadtest.remarks import remarks, verdict
from loadtest.report import document, page
from loadtest.rows import by_mode, label
from loadtest.run import ITEM, ComparisonRun, Options
from loadtest.shop import MeasuredShop, is_ready, own_shop
from loadtest.table import printable, summaries


def experiment(options: Options, lab_url: str | None) -> tuple[Machine, ComparisonRun]:
    """Measure all wanted modes, in a shop of our own or in the one at `url`.

    Raises click.BadParameter and LabRefused for bad input that only the shop could tell, RunFailed
    when the run could not be finished. In any case, nothing is left running.
    """
    with Steps() as steps, open_shop(options, lab_url) as shop:
        try:
            lab = Lab(shop.lab_url)
            about = lab.about()
            check_modes(options.modes, about)
            check_threads(options.buyers, about)
            with replace_running_round(lab, options, steps.console):
                run = ComparisonRun(shop.url, lab, options, about, steps.step)
                run.try_modes()
                steps.expect(run.steps())
                for number in range(1, options.repeats + 1):
                    run.repeat(number)
        except RunFailed:
            shop.check()  # if the shop died, that is the reason to report
            raise
    return describe(about, options.buyers, own=options.url is None), run


@contextmanager
def open_shop(options: Options, lab_url: str | None) -> Iterator[MeasuredShop]:
    """Yield the running shop that was named, or one of our own."""
    if options.url is None:
        with own_shop(options.buyers) as shop:
            yield shop
        return
    lab_url = lab_url or lab_url_for(options.url)
    if not is_ready(options.url):
        raise RunFailed(f"No shop that can sell and book answers at {options.url}/readyz.")
    if not is_ready(lab_url):
        raise RunFailed(f"No lab answers at {lab_url}/readyz; name it with --lab-url.")
    yield MeasuredShop(options.url, lab_url)


@contextmanager
def replace_running_round(lab: Lab, options: Options, console: Console) -> Iterator[None]:
    """Name the round that a running shop had to end for us, and leave none of ours behind."""
    if options.url is None:
        yield
        return
    if (before := lab.running_round(ITEM)) is not None:
        console.print(
            f"Round {before.number} of {ITEM} ({before.mode}) was running at {options.url}. "
            "It is ended and replaced; start another in the lab afterwards.",
            style="yellow",
            highlight=False,
        )
    try:
        yield
    finally:
        with suppress(RunFailed):  # the earlier error matters more
            lab.end_round(ITEM)


@click.command(
    context_settings={
        "show_default": True,
        "max_content_width": 100,
        "help_option_names": ["-h", "--help"],
    }
)
@click.option(
    "--modes",
    default="naive,watch,lock,atomic",
    callback=parsed(parse_modes),
    help="Modes to compare, as mode or mode:recipe.",
)
@click.option(
    "--stock", default=500, type=click.IntRange(1, 1_000_000), help="Units in a sell-out cell."
)
@click.option(
    "--buyers", default=32, type=click.IntRange(1, 512), help="How many buy at the same time."
)
@window(5)
@repeats
@click.option(
    "--url", callback=parsed(parse_url), help="A running shop to measure instead of an own one."
)
@click.option(
    "--lab-url", callback=parsed(parse_url), help="Its lab.  [default: the same host's next port]"
)
@as_json
@as_html("compare.html")
def compare(
    modes: list[str],
    stock: int,
    buyers: int,
    seconds: int,
    repeats: int,
    url: str | None,
    lab_url: str | None,
    json_file: str | None,
    html_file: str,
) -> None:
    """Compare ways of selling: what each sells, and what each costs.

    Every mode is stampeded twice per repeat: once until the stock is sold out, to see what
    became of it, and once from an endless stock, to see goodput, latency and round trips.
    Brings up a shop of its own, in a temporary folder and on free ports, and removes it again.

    The defaults take about four minutes.
    """
    if lab_url and not url:
        raise click.UsageError("--lab-url needs --url: it names the lab of a running shop.")
    if html_file == "-":
        raise click.UsageError("--html needs a file: a browser is to open it.")
    check_writable(json_file, html_file)
    options = Options(modes, stock, buyers, seconds, repeats, url)
    # Standard output may be the document's; a [ in a file name is no markup.
    people = Console(stderr=json_file == "-", markup=False)
    with one_line_errors():
        machine, run = experiment(options, lab_url)
    show(people, machine, run)
    ended = datetime.now().astimezone()
    html = page(machine, options, run.rows, run.yardsticks, ended)
    write(html_file, html)
    people.print(f"Report with charts: {html_file}", soft_wrap=True, highlight=False)
    if json_file:
        report = document(machine, options, run.rows, run.yardsticks, ended)
        write(json_file, json.dumps(asdict(report), indent=2) + "\n")


def show(console: Console, machine: Machine, run: ComparisonRun) -> None:
    """Print tables, verdicts and caveats, for a person at a terminal."""
    for summary in summaries(run.rows, run.yardsticks):
        console.print(*printable(summary, console.width))
    for mode, group in by_mode(run.rows).items():
        console.print(f"{label(mode, group[0].exhibit)}: {verdict(group)}", highlight=False)
    for remark in remarks(run.rows, run.yardsticks):
        console.print(remark, style="yellow", highlight=False)
    for name, fact in machine.facts().items():
        console.print(f"{name}: {fact}", style="dim", highlight=False)


def check_writable(*files: str | None) -> None:
    """Refuse files that cannot be written, before minutes of measuring."""
    for file in files:
        if file is None or file == "-":
            continue
        folder = Path(file).parent
        if not folder.is_dir():
            raise click.BadParameter(f"there is no folder {folder} to write {file} to")
        if not os.access(file if Path(file).exists() else folder, os.W_OK):
            raise click.BadParameter(f"{file} cannot be written")


def write(file: str, text: str) -> None:
    """Write the text to the file, or to standard output for `-`."""
    try:
        with click.open_file(file, "w", encoding="utf-8") as output:
            output.write(text)
    except OSError as error:
        raise click.ClickException(f"cannot write {file}: {error.strerror}") from error


if __name__ == "__main__":
    compare(prog_name="lastapple compare")
