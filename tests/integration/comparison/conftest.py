"""Comparisons over a real store and database, without a process that runs them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from app.bootstrap import Services
from app.lab.comparison.record import Comparison

WANTED = {
    "item": "apple",
    "modes": ["watch", "naive"],
    "reference": "naive",
    "stock": 10,
    "times": {"think": 5},
    "crowd": {"buyers": 4, "seconds": 2, "repeats": 2},
}


@pytest.fixture
def compare(services: Services) -> Callable[..., Comparison]:
    """Starts a comparison without a runner, as if its process had died at once."""

    def start(**changes: Any) -> Comparison:
        wanted: dict[str, Any] = {**WANTED, "drive": lambda comparison: None, **changes}
        return services.comparisons.start(**wanted)

    return start
