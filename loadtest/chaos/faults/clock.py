"""A worker's clock that is stepped by hours."""

from __future__ import annotations

from contextlib import suppress

from loadtest.chaos.fault_targeting import NO_TARGET, Effect, Targeting
from loadtest.chaos.plan import FaultStep

HOURS = (-26, -3, 2, 25)


def worker(targeting: Targeting, step: FaultStep) -> Effect:
    """Step a worker's clock, if its Python reads the machine's (see clock/sitecustomize.py)."""
    chosen, ops = targeting.aim_at_a_worker(step.fate)
    if chosen is None:
        return NO_TARGET
    hours = HOURS[int(step.fate * len(HOURS))]
    clock = targeting.shop.folder / "clocks" / str(chosen.pid)
    clock.write_text(str(hours * 3600))

    def end() -> None:
        with suppress(FileNotFoundError):
            clock.unlink()

    return Effect(
        f"{hours:+d} h, pid {chosen.pid}", ops, end=end, late=lambda: targeting.ops(chosen.pid)
    )
