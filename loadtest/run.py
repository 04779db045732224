"""The run: every mode in every repeat, two cells each, and the yardstick next to them."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import TypeVar

from loadtest import RunFailed, wrk
from loadtest.generator import Load, generate
from loadtest.lab import About, Lab
from loadtest.rows import (
    FASTEST,
    NOOP,
    Cells,
    ComparisonRow,
    Yardstick,
    build_row,
    build_yardstick,
    label,
    select_for_wrk,
)
from loadtest.window import LoadFigures

ITEM = "apple"

# More than the longest cost cell can sell (600 s at 16,000 sales a second): that cell measures
# selling, and a sold-out answer is much cheaper than a sale.
ENDLESS = 10_000_000

Measured = TypeVar("Measured")


@dataclass(frozen=True)
class Options:
    """Options of a comparison. `seconds` of a cost cell's window, `url` of a running shop."""

    modes: list[str]
    stock: int
    buyers: int
    seconds: int
    repeats: int
    url: str | None = None

    @property
    def command(self) -> str:
        """The command line that requests the same run again."""
        return (
            f"lastapple compare --modes {','.join(self.modes)} --stock {self.stock} "
            f"--buyers {self.buyers} --seconds {self.seconds} --repeats {self.repeats}"
            + (f" --url {self.url}" if self.url else "")
        )


@dataclass
class ComparisonRun:
    """Runs the cells against one shop, each inside a `step` of that name."""

    url: str
    lab: Lab
    options: Options
    about: About
    step: Callable[[str], AbstractContextManager[None]]
    rows: list[ComparisonRow] = field(default_factory=list)
    yardsticks: list[Yardstick] = field(default_factory=list)

    def steps(self) -> int:
        """Return how many cells there will be; generator-bound rows may add some."""
        modes = len(self.options.modes)
        by_wrk = 1 + min(FASTEST, modes) if wrk.path() else 0
        return self.options.repeats * (1 + 2 * modes + by_wrk)

    def try_modes(self) -> None:
        """Start a round of every mode, so that a mode that the lab refuses is refused at once."""
        for mode in self.options.modes:
            self.lab.start_round(ITEM, self.options.stock, mode)

    def repeat(self, number: int) -> None:
        """Run one repeat. Every second one runs backwards, so that no mode always comes first."""
        order = [NOOP, *self.options.modes]
        if number % 2 == 0:
            order.reverse()
        cells: dict[str, Cells] = {}
        for mode in order:
            if mode == NOOP:
                noop = self.noop(number)
            else:
                cells[mode] = self.cells(number, mode)

        atomic = cells["atomic"].cost if "atomic" in cells else None
        rows = [
            build_row(mode, self.about.exhibit(mode), number, cells[mode], atomic, noop)
            for mode in self.options.modes
        ]
        self.rows += rows
        self.yardsticks.append(build_yardstick(number, noop))
        if wrk.path():
            self.cross_check(number, rows, self.yardsticks[-1])

    def noop(self, number: int) -> LoadFigures:
        with self.step(f"repeat {number}: {NOOP}"):
            noop = generate(self.load(item=None))
        if not noop.goodput:
            raise RunFailed(f"{self.url} answered no POST /noop: {noop.answers or 'no answer'}.")
        return noop

    def cells(self, number: int, mode: str) -> Cells:
        """Measure the sell-out cell, then the cost cell."""
        with self.step(f"repeat {number}: {self.label(mode)}, sell-out"):
            round_number = self.lab.start_round(ITEM, self.options.stock, mode)
            sell_out = generate(Load(self.url, self.options.buyers, ITEM))
            audit = self.lab.audit(ITEM, round_number)
        with self.step(f"repeat {number}: {self.label(mode)}, cost"):
            cost, settled = self.cost(mode, generate)
        return Cells(audit, sell_out, cost, settled and audit["settled"])

    def cost(self, mode: str, measure: Callable[[Load], Measured]) -> tuple[Measured, bool]:
        """Measure selling from an endless stock. Returns the figures and whether it settled.

        Waits for the audit, although its counts are not used: the next cell must not share the
        machine with orders still on their way to the database.
        """
        endless = min(ENDLESS, self.about.max_units.get(mode, ENDLESS))
        round_number = self.lab.start_round(ITEM, endless, mode)
        measured = measure(self.load(ITEM))
        audit = self.lab.audit(ITEM, round_number)
        if not audit["left"]:
            raise RunFailed(
                f"The cost cell of {mode} sold all {endless:,} units; use less --seconds."
            )
        return measured, audit["settled"]

    def cross_check(self, number: int, rows: list[ComparisonRow], noop: Yardstick) -> None:
        """Run wrk on the no-op and on the rows that Locust cannot measure reliably."""
        with self.step(f"repeat {number}: {NOOP}, by wrk"):
            noop.wrk_goodput = wrk.goodput(self.load(item=None))
        if not noop.wrk_goodput:
            raise RunFailed(f"{self.url} answered no POST /noop of wrk.")
        for measured_row in select_for_wrk(rows):
            with self.step(f"repeat {number}: {self.label(measured_row.mode)}, by wrk"):
                goodput, _ = self.cost(measured_row.mode, wrk.goodput)
            measured_row.wrk_goodput, measured_row.wrk_ratio_noop = (
                goodput,
                goodput / noop.wrk_goodput,
            )

    def load(self, item: str | None) -> Load:
        return Load(self.url, self.options.buyers, item, self.options.seconds)

    def label(self, mode: str) -> str:
        return label(mode, self.about.exhibit(mode))
