"""Comparisons made of figures alone, without a sale."""

from __future__ import annotations

from typing import Any

from app.lab.comparison.record import Comparison, Machine, Result
from app.lab.stampede.record import How

MACHINE = Machine("0.1.0", 2, 16, "Valkey 9.1.0", "always", "sqlite", 2, "safe")


def result(mode: str, goodput: float | None, repeat: int = 1, **but: Any) -> Result:
    """Return a run that ended by itself and was exact; `but` overrides its fields."""
    said: dict[str, Any] = {
        "how": How.FINISHED,
        "verdict": "exact",
        "lasted_s": 5.0,
        "generator_cpu": 0.3,
        "oversold": 0,
    }
    run = f"apple-{mode}-{repeat}"
    return Result(mode=mode, repeat=repeat, run=run, goodput=goodput, **said | but)


def comparison(*results: Result, **but: Any) -> Comparison:
    """Return a comparison with naive, which is broken on purpose, as its reference."""
    said: dict[str, Any] = {
        "id": "comparison-0123456789",
        "item": "apple",
        "stock": 100,
        "times": {"think": 20},
        "buyers": 16,
        "seconds": 8,
        "repeats": 3,
        "reference": "naive",
        "modes": ["naive", "watch", "lock:lease", "atomic"],
        "exhibits": ["naive"],
        "machine": MACHINE,
        "started": 1_700_000_000_000,
    }
    return Comparison(**said | {"results": list(results)} | but)
