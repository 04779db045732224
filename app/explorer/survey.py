"""Many ways of selling, each with many kinds of fault: one process for each core."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Sequence
from functools import partial

from app.domain import ShopError
from app.explorer.explore import Explorer, Report
from app.explorer.faults import Faults
from app.explorer.targets import Target

LIMIT = 600.0  # s for all of it
MOST = 300_000  # states: what a process can keep in half a GiB


def survey(
    targets: Sequence[Target],
    buyers: int,
    cases: Sequence[Faults],
    most: int = MOST,
    limit: float = LIMIT,
) -> list[Report]:
    """A report for each target and each case, in that order: all of the first target's first.

    Each looks at `most` states at the most; what was not looked at to its end says so. Raises
    ShopError when all that is not done within `limit` s.
    """
    # Processes of their own from the beginning: a fork would take over half of somebody's threads.
    context = multiprocessing.get_context("spawn")
    processes = max(1, min(os.cpu_count() or 1, len(targets)))
    with context.Pool(processes, _leave_ctrl_c_alone) as pool:
        ask = partial(_explore, buyers=buyers, most=most)
        try:
            # Who has many states without a fault has many more with them. The longest first: so
            # all processes come to their end at about the same time.
            small = pool.map_async(partial(ask, cases=[Faults()]), targets, 1).get(limit)
            order = sorted(range(len(targets)), key=lambda nth: -small[nth][0].states)
            work = pool.map_async(partial(ask, cases=cases), [targets[nth] for nth in order], 1)
            found = dict(zip(order, work.get(limit), strict=True))
        except multiprocessing.TimeoutError:
            raise ShopError(
                f"Not all was looked at within {limit:.0f} s: fewer buyers or faults are faster."
            ) from None
    return [report for nth in range(len(targets)) for report in found[nth]]


def _leave_ctrl_c_alone() -> None:
    """It is for the process that started us, which ends us."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _explore(target: Target, buyers: int, cases: Sequence[Faults], most: int) -> list[Report]:
    explorer = Explorer(target, buyers)  # what the code does is learned once for all cases
    return [explorer.explore(case, most) for case in cases]
