"""The cost of each DURABILITY compared with `safe`: sales per second of one worker, on the disk."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from app.bootstrap import Services
from tests.integration.durability.buyers import Crowd
from tests.integration.durability.conftest import pair_in

SECONDS = 1.0  # of each share; the levels take turns


@pytest.mark.soak
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("buyers", [1, 16])
def test_what_it_costs(
    disk: Path, shop_over: Callable[..., Services], buyers: int, runs: int
) -> None:
    """Printed, and only its sign is checked, since disks differ."""
    pair = pair_in(disk)
    levels = {"fast": "everysec", "safe": "always", "replicated": "always"}
    rates: dict[str, list[float]] = {level: [] for level in levels}
    try:
        shops = {level: shop_over(pair.store, level) for level in levels}
        for _ in range(runs):
            for level, fsync in levels.items():
                for server in (pair.store, pair.replica):
                    with server.client() as client:
                        client.config_set("appendfsync", fsync)
                rates[level].append(rate(shops[level], buyers))
    finally:
        pair.stop()
    for level in ("fast", "replicated"):
        ratios = sorted(a / b for a, b in zip(rates[level], rates["safe"], strict=True))
        print(
            f"\n{buyers} buyers, {level} ÷ safe: {ratios[0]:.2f} – {statistics.median(ratios):.2f} "
            f"– {ratios[-1]:.2f} ({statistics.median(rates['safe']):.0f} sales/s safe)",
            flush=True,
        )
    assert statistics.median(rates["replicated"]) > 0


def rate(services: Services, buyers: int) -> float:
    """Return sales per second."""
    crowd = Crowd(services, buyers)
    with crowd.buying():
        time.sleep(0.3)
        before, began = len(crowd.told), time.monotonic()
        time.sleep(SECONDS)
        return (len(crowd.told) - before) / (time.monotonic() - began)
