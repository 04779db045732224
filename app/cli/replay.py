"""`lastapple replay`: a schedule that the explorer found, on a real server."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import click
from badluck.report.chart import chart
from badluck.report.model_backend import ModelBackend
from badluck.report.replay import ReplayedStep
from badluck.report.trace import Step
from badluck.report.verdict import starvation_setting
from rich.console import Console

from app.cli.interrupt import ends_at_ctrl_c, heard_at_once, held_back
from app.cli.user_code_errors import their_errors
from app.explorer import sandbox
from app.explorer.saved_schedules import Recorded, read, servers
from app.explorer.saved_schedules import replay as play
from app.explorer.student import Student

OURS = "lastapple-"  # temporary folders


@click.command(
    short_help="Play what `explore` found on a real server.",
    context_settings={"show_default": True, "max_content_width": 100},
)
@click.argument("file", type=click.File("rb"))
@click.option(
    "--on",
    default="server",
    type=click.Choice(["server", "model"]),
    help="Where: on a real Valkey of its own, or in the explorer's model once more.",
)
def replay(file: BinaryIO, on: str) -> None:
    """Play the schedules of FILE again, with the same code, and draw what happens.

    FILE is what `lastapple explore TARGET --save FILE` wrote. The server is a Valkey of its own in
    a temporary folder, whose clock says what the schedule says: that needs Linux and a C compiler.

    Exit status: 0 all went as in FILE; 1 something differed; 2 bad input.
    """
    recorded = read(file.read())
    people = Console(highlight=False)
    if recorded.changed:
        warning = f"{recorded.target.name} has changed since {file.name} was written."
        people.print(warning, style="yellow", markup=False)
    if recorded.again:
        people.print(
            f"What was asked: {starvation_setting(recorded.target)}. Is A starved?", markup=False
        )
    with ends_at_ctrl_c("Stopped."):
        divergences = sum(
            not _show(people, name, recorded, played) for name, played in _all(recorded, on)
        )
    where_to = "a real Valkey" if on == "server" else "the model"
    color = "red" if divergences else "green"
    many = len(recorded.traces)
    people.print(
        f"{many} schedule{'s' * (many != 1)} of {recorded.target.name} on {where_to}: "
        f"{divergences} divergence{'s' * (divergences != 1)}",
        style=f"bold {color}",
        markup=False,
    )
    sys.exit(1 if divergences else 0)


def _all(recorded: Recorded, on: str) -> Iterator[tuple[str, list[ReplayedStep]]]:
    target, names = recorded.target, recorded.names
    if isinstance(target, Student):
        with their_errors(), held_back(), tempfile.TemporaryDirectory(prefix=OURS) as folder:
            own = Path(folder) if on == "server" else None
            with heard_at_once():
                replayed = sandbox.replay(target, names, recorded.traces, own)
        yield from replayed.items()
        return
    if on == "model":
        for name, steps in recorded.traces.items():
            yield name, play(target, names, steps, ModelBackend())
        return
    with (
        held_back() as leaving,
        tempfile.TemporaryDirectory(prefix=OURS) as folder,
        servers(Path(folder), len(target.setup())) as real,
    ):
        for name, steps in recorded.traces.items():
            if leaving():
                return
            yield name, play(target, names, steps, real)


def _show(people: Console, name: str, recorded: Recorded, played: list[ReplayedStep]) -> bool:
    """Draw the schedule. Return whether all went as recorded."""
    people.print(f"{recorded.target.name}: {name}", style="bold", markup=False)
    _draw(people, [step.got for step in played], recorded)
    same = all(step.same for step in played)
    if not same:
        people.print("DIVERGED at this step. It was recorded as:", style="red", markup=False)
        _draw(people, [played[-1].expected], recorded)
    people.print()
    return same


def _draw(people: Console, steps: list[Step], recorded: Recorded) -> None:
    names, vocabulary = recorded.names, recorded.target.vocabulary
    drawn = chart(steps, names, max(people.width, 80), vocabulary)
    people.print(drawn, markup=False, soft_wrap=True)
