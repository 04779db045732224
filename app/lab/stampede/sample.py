"""What is known of a stampede at one moment; stands as JSON in its events and its record."""

from __future__ import annotations

from typing import TypedDict


class Heard(TypedDict, total=False):
    """What the buyers say, as loadtest/feed.py writes it; nothing before the first has come."""

    took_s: float  # since then
    buyers: int  # who are there
    goodput: float | None  # sales a second, of the last second
    overall: float | None  # the same up to the last sale; None before the first
    lasted_s: float  # until the last sale
    generator_cpu: float | None  # share of one core that their process took until then
    answers: dict[str, int]  # by outcome
    retries: int  # attempts beyond each purchase's first
    p50_ms: float | None  # that so many % of the sales took at most; None before the first
    p95_ms: float | None
    p99_ms: float | None


class Sample(Heard, total=False):
    """With what the store says; a member is missing where that could not be asked.

    Here `goodput` leaves out the sales whose unit was not there; in the end both it and `sales` are
    of the whole run.
    """

    sales: float | None  # a second, as the buyers count them
    left: int | None  # units in stock
    sold: int  # units; of a round that sells in the store, sales
    in_flight: int  # purchases under way
    waiting: int | None  # those of them who wait for a lock; None: the mode has none
    conflicts: int  # lost races
    phase: str  # "starting", "selling" or "settling"
    at_s: float  # since the first buyer came
