"""The rows of the report: the request, the server, and the spread over the repeats. No I/O."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from figures import Spread, quotient, spread

PLAIN, USUAL, NOOP, RAW = "plain no-op", "usual shop", "no-op", "raw store"
PEERS = {"watch": "plain WATCH loop", "lock": "python-redis-lock"}  # by PEER (see peers.py)
PEER_OF = {"watch": PEERS["watch"], "lock": PEERS["lock"], "fused": PEERS["lock"]}  # by mode
SOLD_OUT = ", sold out"  # after the name of a mode: there is nothing left to sell


@dataclass(frozen=True)
class Measurement:
    """One row at one number of connections, in one repeat. Times in ms, CPU in µs.

    `cpu_us` is that of all processes of the shop, store and fulfil included, for one good answer,
    until the last sale is booked. None: not known.
    """

    name: str
    connections: int
    repeat: int
    per_s: float  # good answers
    others: int  # answers that were not, BUSY among them
    p50_ms: float | None
    p99_ms: float | None
    cpu_us: float | None
    under_way: int  # requests at most: more connections than threads only queue


@dataclass(frozen=True)
class ThroughputRow:
    """All repeats of a row at one number of connections."""

    name: str
    connections: int
    cells: list[Measurement]
    noop: list[Measurement]  # the same server's, in the same repeats
    usual: list[Measurement]
    peer: list[Measurement]  # the peer that sells in the same way, if there is one

    @property
    def under_way(self) -> int:
        return self.cells[0].under_way

    @property
    def others(self) -> int:
        return sum(cell.others for cell in self.cells)

    def figure(self, name: str, base: str = "") -> Spread | None:
        """Summarize a figure over all repeats, or its ratio to `base` within each repeat."""
        if not base:
            return spread(getattr(cell, name) for cell in self.cells)
        other: list[Measurement] = getattr(self, base)
        divisors = {cell.repeat: getattr(cell, name) for cell in other}
        return spread(
            quotient(figure, divisors[cell.repeat])
            for cell in self.cells
            if (figure := getattr(cell, name)) is not None and divisors.get(cell.repeat) is not None
        )


# In the document, as a heading, of the cells, ÷ those of a base.
FIGURES = (
    ("per_s", "per second", "per_s", ""),
    ("ratio_noop", "÷ no-op", "per_s", "noop"),
    ("ratio_usual", "÷ usual", "per_s", "usual"),
    ("ratio_peer", "÷ peer", "per_s", "peer"),
    ("p50_ms", "p50 ms", "p50_ms", ""),
    ("p99_ms", "p99 ms", "p99_ms", ""),
    ("p99_ratio_noop", "p99 ÷ no-op's", "p99_ms", "noop"),
    ("cpu_us", "CPU µs", "cpu_us", ""),
    ("cpu_ratio_usual", "CPU ÷ usual", "cpu_us", "usual"),
)


def rows(cells: Iterable[Measurement]) -> list[ThroughputRow]:
    """Group the cells, in the order in which they were first measured."""
    groups: dict[tuple[int, str], list[Measurement]] = {}
    for cell in cells:
        groups.setdefault((cell.connections, cell.name), []).append(cell)
    made = []
    for (connections, name), group in sorted(groups.items(), key=lambda one: one[0][0]):
        own = PLAIN if name in (PLAIN, USUAL, *PEERS.values()) else NOOP
        bases = (own, USUAL, PEER_OF.get(name.partition(":")[0], ""))
        made.append(
            ThroughputRow(
                name, connections, group, *(groups.get((connections, base), []) for base in bases)
            )
        )
    return made


def document(made: Iterable[ThroughputRow]) -> list[dict[str, str | float | None]]:
    """Return the rows for programs: medians; `min` and `max` are those of `per_s`."""
    return [
        {
            "name": row.name,
            "connections": row.connections,
            **{key: _median(row.figure(name, base)) for key, _, name, base in FIGURES},
            "min": (speed := row.figure("per_s")) and round(speed.low, 3),
            "max": speed and round(speed.high, 3),
            "under_way": row.under_way,
            "other_answers": row.others,
        }
        for row in made
    ]


def _median(of: Spread | None) -> float | None:
    return of and round(of.median, 3)
