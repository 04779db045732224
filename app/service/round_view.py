"""A round for programs, with the same fields by HTTP and by `lastapple round --json`."""

from __future__ import annotations

from typing import TypedDict

from app.domain import Round, iso
from app.modes import Way
from app.service import catalogue
from app.text import Text


class Terms(TypedDict):
    """The terms of a round. Names of times end in their unit."""

    item: str
    round: int
    mode: str
    exhibit: bool
    stock: int  # units that it began with
    think_ms: int
    lease_ms: int
    wait_ms: int
    attempts: int
    limit: int  # units in one order
    per_buyer: int  # units that one buyer may have; 0: no limit
    delay_ms: int
    hold_ms: int  # 0: what is bought is sold at once


class View(Terms):
    """A round's terms and state. Moments end in `_at` (ISO 8601 in UTC; null: not yet)."""

    running: bool
    started_at: str | None
    opens_at: str | None
    ended_at: str | None
    warnings: list[str]


def terms(round: Round) -> Terms:
    return {
        "item": round.item,
        "round": round.number,
        "mode": round.mode,
        "exhibit": Way.of(round.mode).exhibit,
        "stock": round.stock,
        "think_ms": round.think,
        "lease_ms": round.lease,
        "wait_ms": round.wait,
        "attempts": round.attempts,
        "limit": round.limit,
        "per_buyer": round.per_buyer,
        "delay_ms": round.delay,
        "hold_ms": round.hold,
    }


def view(round: Round) -> View:
    return {
        **terms(round),
        "running": round.running,
        "started_at": iso(round.started),
        "opens_at": iso(round.opens),
        "ended_at": iso(round.ended),
        "warnings": warnings(round),
    }


def warnings(round: Round) -> list[str]:
    """Return warnings about a round, each a Text; none for a round that keeps its promises."""
    sentences: list[str] = []
    seller = Way.of(round.mode)
    if seller.exhibit:
        breaks = catalogue.breaks(seller)
        sentences.append(
            Text("%(mode)s is broken on purpose: %(breaks)s.", mode=round.mode, breaks=breaks)
        )
    if (expected := catalogue.outlived(seller)) and round.think >= round.lease:
        sentences.append(
            Text(
                "The work (%(think)s s of thinking) will outlive the lease (%(lease)s s): "
                "expect %(expected)s.",
                think=round.think / 1000,
                lease=round.lease / 1000,
                expected=expected,
            )
        )
    if (why := seller.mode.no_think) and round.think:
        sentences.append(why)
    return sentences
