"""A worker's clock that is stepped by hours."""

from __future__ import annotations

from contextlib import suppress

from loadtest.chaos.faults.struck import MISSED, Struck
from loadtest.chaos.plan import Step
from loadtest.chaos.sight import Sight

HOURS = (-26, -3, 2, 25)


def worker(sight: Sight, step: Step) -> Struck:
    """Only where the shop's Python reads the machine's clock; see clock/sitecustomize.py."""
    chosen, ops = sight.aim_at_a_worker(step.fate)
    if chosen is None:
        return MISSED
    hours = HOURS[int(step.fate * len(HOURS))]
    clock = sight.shop.folder / "clocks" / str(chosen.pid)
    clock.write_text(str(hours * 3600))

    def end() -> None:
        with suppress(FileNotFoundError):
            clock.unlink()

    return Struck(
        f"{hours:+d} h, pid {chosen.pid}", ops, end=end, late=lambda: sight.ops(chosen.pid)
    )
