"""Figures of `lastapple compare` on this machine, if there are any. No figure comes from elsewhere.

Read from compare.json in VAR_DIR (`make compare` writes it there).
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson
from figures import Spread, spread

from app.locks import DEFAULT

NAME = "compare.json"
LARGEST = 10_000_000  # bytes; a comparison of everything is a hundredth of it
FIGURES = (
    "goodput",
    "ratio_atomic",
    "ratio_noop",
    "p50_ms",
    "p99_ms",
    "attempts_per_sale",
    "round_trips_per_sale",
    "commands_per_sale",
    "sold",
    "oversold",
)


@dataclass(frozen=True)
class Measured:
    """A mode in one comparison.

    `figures` has those of FIGURES that were measured in all repeats.
    """

    ended: datetime
    cpu: str
    cores: int
    system: str
    store: str
    appendfsync: str
    database: str
    buyers: int
    seconds: int  # of each repeat's window
    repeats: int
    stock: int
    url: str  # of the shop, if the comparison did not start one itself
    generator_bound: bool  # the load generator was the limit: the shop may be faster
    figures: dict[str, Spread]


@dataclass(frozen=True)
class Cost:
    """A target's cost. `measured` None and `unreadable`: the file is no comparison of ours."""

    file: str
    measured: Measured | None
    unreadable: bool = False
    others: tuple[str, ...] = ()  # the modes that were measured


def cost(target: str, var: Path) -> Cost:
    """Return the figures of a target, `mode` or `mode:recipe`, in the comparison in `var`."""
    file = var / NAME
    if not file.exists():
        return Cost(str(file), None)
    try:
        document = _read(file)
        rows = [row for row in document["rows"] if _full(row["mode"]) == _full(target)]
        others = tuple(dict.fromkeys(_full(row["mode"]) for row in document["rows"]))
        measured = _measured(document, rows) if rows else None
    except (OSError, ValueError, TypeError, KeyError):
        return Cost(str(file), None, unreadable=True)
    return Cost(str(file), measured, others=others)


def _full(mode: Any) -> str:
    return f"lock:{DEFAULT}" if mode == "lock" else str(mode)


def _read(file: Path) -> Any:
    """Read the file. Raises OSError, or ValueError when it is no JSON of a likely size."""
    if file.stat().st_size > LARGEST:
        raise ValueError(file)
    return orjson.loads(file.read_bytes())


def _waited(durability: object) -> str:
    """Return the file's durability for the title; older files have none."""
    return f", DURABILITY={durability}" if durability else ""


def _measured(document: Any, rows: list[Any]) -> Measured:
    machine, options = document["machine"], document["options"]
    spreads = {name: _spread([row[name] for row in rows]) for name in FIGURES}
    return Measured(
        datetime.fromisoformat(document["ended_at"]).astimezone(UTC),
        str(machine["cpu"]),
        int(machine["cores"]),
        str(machine["system"]),
        str(machine["store"]),
        str(machine["appendfsync"]) + _waited(machine.get("durability", "")),
        str(machine["database"]),
        int(options["buyers"]),
        int(options["seconds"]),
        len(rows),
        int(options["stock"]),
        str(options["url"] or ""),
        any(row["generator_bound"] for row in rows),
        {name: spread for name, spread in spreads.items() if spread},
    )


def _spread(values: list[Any]) -> Spread | None:
    """Return the spread; None when a repeat lacks the figure, as it was not measured reliably."""
    return None if None in values else spread(map(float, values))
