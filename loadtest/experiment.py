"""The whole experiment: a shop, the checks that need one, and all repeats."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress

from rich.console import Console

from loadtest import RunFailed
from loadtest.inputs import check_modes, check_threads, lab_beside
from loadtest.lab import Lab
from loadtest.machine import Machine, describe
from loadtest.progress import Steps
from loadtest.run import ITEM, ComparisonRun, Options
from loadtest.shop import MeasuredShop, is_ready, own_shop


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
    lab_url = lab_url or lab_beside(options.url)
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
