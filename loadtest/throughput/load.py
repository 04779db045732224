"""Load on one address: by wrk where it is installed, else by Locust."""

from __future__ import annotations

from dataclasses import dataclass

import uuid_utils

from loadtest import RunFailed, wrk
from loadtest.generator import Load, generate


@dataclass(frozen=True)
class Answers:
    """The answers to one load. Times in ms: of all answers by wrk, of good ones by Locust."""

    good: int  # with the wanted outcome
    others: int
    seconds: float
    p50_ms: float | None
    p99_ms: float | None

    @property
    def per_s(self) -> float:
        return self.good / self.seconds


def generator() -> str:
    """Name the load generator, for a person."""
    return wrk.version() or "Locust (no wrk is installed: the fastest rows are too low)"


def send(
    url: str, item: str | None, wanted: str, connections: int, seconds: float, *others: str
) -> Answers:
    """Buy `item` (None: nothing) from so many keep-alive connections, without pauses.

    Every request has a fresh key that begins with the moment, as in the shop's pages. With
    `others`, items in turn. Raises RunFailed.
    """
    if wrk.path() is None:
        if others:
            raise RunFailed("Several items at once need wrk: install it (Debian: apt install wrk).")
        figures = generate(Load(url, connections, item, seconds, wanted))
        good = figures.answers.get(wanted, 0)
        rest = sum(figures.answers.values()) - good
        return Answers(good, rest, seconds, figures.p50_ms, figures.p99_ms)
    paths = [f"/buy/{each}" for each in (item, *others)] if item else ["/noop"]
    run = str(uuid_utils.uuid7())
    counts = wrk.ask("throughput/buyers.lua", url, connections, seconds, wanted, run, *paths)
    rest = round(counts["all"] - counts["good"])
    return Answers(
        round(counts["good"]), rest, counts["seconds"], counts["p50_ms"], counts["p99_ms"]
    )
