"""Runs over a real store and database, without a process that drives them; and the lab's HTTP."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from app.bootstrap import Services
from app.lab.stampede.record import Run

NAIVE = {"item": "apple", "mode": "naive", "stock": 10, "times": {"think": 5}}
CROWD = {"buyers": 4, "seconds": 2}


@pytest.fixture
def begin(services: Services) -> Callable[..., Run]:
    """Starts a run without a load runner, as if its process had died at once."""

    def start(**changes: Any) -> Run:
        wanted: dict[str, Any] = {**NAIVE, "crowd": CROWD, "drive": lambda run: None, **changes}
        return services.runs.start(**wanted)

    return start
