"""The whole run: the databases in turn, so that a noisy minute hits all of them."""

from __future__ import annotations

from collections.abc import Callable

from loadtest.bench.fulfil.cell import FulfilFigures, measure
from loadtest.bench.fulfil.stage import stage


def run(
    kinds: list[str],
    sales: int,
    repeats: int,
    began: Callable[[str], object],
    leave: Callable[[], bool],
) -> dict[str, list[FulfilFigures]]:
    """Figures of each database's repeats. Raises ShopError, also when it is time to `leave`."""
    measured: dict[str, list[FulfilFigures]] = {kind: [] for kind in kinds}
    with stage(kinds) as there:
        for repeat in range(repeats):
            for kind in kinds:
                began(f"{kind}, repeat {repeat + 1} of {repeats}")
                name = f"{kind}-{repeat}"
                measured[kind].append(measure(there, kind, name, sales, leave))
    return measured
