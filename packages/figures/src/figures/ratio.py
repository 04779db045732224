"""Ratios, and when one would mislead."""

from __future__ import annotations

# Above this share of one core the load generator, not what it measures, may be the limit: it runs
# on one core, and the last tenth of it is spent waiting for its own turn.
BOUND = 0.9


def quotient(one: float, other: float) -> float | None:
    """None where there is nothing to divide by."""
    return one / other if other else None


def generator_bound(cpu: float | None) -> bool:
    """Was the generator itself the limit? `cpu` is its share of one core; None: not known."""
    return cpu is not None and cpu > BOUND
