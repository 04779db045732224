"""A round as programs are told of it: in the same terms by HTTP and by `lastapple round --json`."""

from __future__ import annotations

from typing import Any

from app.domain import Round, iso
from app.service.rounds import is_exhibit
from app.service.warnings import warnings


def view(round: Round) -> dict[str, Any]:
    """Times end in their unit, moments in `_at` (ISO 8601 in UTC; null: not yet)."""
    return {
        "item": round.item,
        "round": round.number,
        "mode": round.mode,
        "exhibit": is_exhibit(round.mode),
        "stock": round.stock,
        "think_ms": round.think,
        "lease_ms": round.lease,
        "wait_ms": round.wait,
        "attempts": round.attempts,
        "limit": round.limit,
        "delay_ms": round.delay,
        "running": round.running,
        "started_at": iso(round.started),
        "opens_at": iso(round.opens),
        "ended_at": iso(round.ended),
        "warnings": warnings(round),
    }
