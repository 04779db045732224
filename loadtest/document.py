"""The comparison as one JSON document, for programs."""

from __future__ import annotations

from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from loadtest.machine import Machine
from loadtest.rows import Row, Yardstick
from loadtest.run import Options

DIGITS = 4  # beyond them is noise


def document(
    machine: Machine,
    options: Options,
    rows: list[Row],
    yardsticks: list[Yardstick],
    ended: datetime,
) -> dict[str, Any]:
    """`{"ended_at", "machine", "options", "rows": […], "noop": […]}`.

    `ended_at` is ISO 8601 in UTC. The members are those of Machine, Options, Row and
    Yardstick. A figure that is missing or not fit to be told is null.
    """
    return {
        "ended_at": ended.astimezone(UTC).isoformat(timespec="seconds"),
        "machine": asdict(machine) | {"shop_threads": machine.shop_threads},
        "options": asdict(options),
        "rows": [rounded(asdict(one)) for one in rows],
        "noop": [rounded(asdict(one)) for one in yardsticks],
    }


def rounded(members: dict[str, Any]) -> dict[str, Any]:
    return {
        name: round(value, DIGITS) if isinstance(value, float) else value
        for name, value in members.items()
    }
