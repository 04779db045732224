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


def survey(
    targets: Sequence[Target], buyers: int, cases: Sequence[Faults], limit: float = LIMIT
) -> list[Report]:
    """A report for each target and each case, in that order: all of the first target's first.

    Raises ShopError when that is not done within `limit` s.
    """
    # Processes of their own from the beginning: a fork would take over half of somebody's threads.
    context = multiprocessing.get_context("spawn")
    with context.Pool(min(os.cpu_count() or 1, len(targets)), _leave_ctrl_c_alone) as pool:
        of_one = partial(_all_cases, buyers=buyers, cases=tuple(cases))
        work = pool.map_async(of_one, targets, chunksize=1)
        try:
            found = work.get(limit)
        except multiprocessing.TimeoutError:
            raise ShopError(
                f"Not all was looked at within {limit:.0f} s: fewer buyers or faults are faster."
            ) from None
    return [report for reports in found for report in reports]


def _leave_ctrl_c_alone() -> None:
    """It is for the process that started us, which ends us."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _all_cases(target: Target, buyers: int, cases: Sequence[Faults]) -> list[Report]:
    explorer = Explorer(target, buyers)  # what the code does is learned once for all cases
    return [explorer.explore(case) for case in cases]
