"""A stampede's figures at one moment, as JSON in its events and its record."""

from __future__ import annotations

from typing import TypedDict


class Heard(TypedDict, total=False):
    """The buyers' figures, as loadtest/feed.py writes them; empty before the first buyer."""

    took_s: float  # since the first buyer came
    buyers: int  # that have come so far
    goodput: float | None  # sales a second, of the last second
    overall: float | None  # from the first buyer to the last sale; None before the first sale
    lasted_s: float  # until the last sale
    generator_cpu: float | None  # share of one core that their process took until then
    answers: dict[str, int]  # by outcome
    retries: int  # attempts beyond each purchase's first
    p50_ms: float | None  # percentiles of the sales' durations; None before the first sale
    p95_ms: float | None
    p99_ms: float | None


class Sample(Heard, total=False):
    """The buyers' figures and the store's; a member is missing if its server was away.

    Here `goodput` leaves out the sales that oversold; at the end both it and `sales` are of the
    whole run.
    """

    sales: float | None  # a second, as the buyers count them
    left: int | None  # units in stock
    sold: int  # units; of a round that sells in the store, sales
    in_flight: int  # purchases under way
    waiting: int | None  # purchases that wait for a lock; None: the mode has none
    conflicts: int  # lost races
    phase: str  # "starting", "selling" or "settling"
    at_s: float  # since the first buyer came
