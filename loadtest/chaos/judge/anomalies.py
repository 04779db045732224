"""Kinds of anomalies that the judge detects in a run, and one detection."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Anomaly(StrEnum):
    """Counted in orders, but for those that say units."""

    LOST = "lost"  # told SOLD, and in no book
    TWICE = "twice"  # a key with two orders, told or booked; or an id booked twice
    OVERSOLD = "oversold"  # units booked beyond the stock
    STRANDED = "stranded"  # units that are nobody's: neither left, held nor sold
    SURPLUS = "surplus"  # units that are somebody's twice: left, held and sold exceed the stock
    HELD_ON = "held_on"  # units that are held long after their deadline
    UNBOOKED = "unbooked"  # told SOLD, in the store, and after all had time in no database
    RETURNED = "returned"  # paid, and its units given back
    DENIED = "denied"  # booked, though every press was told no, or nobody paid
    STRANGER = "stranger"  # booked for another buyer than the one who pressed
    OVER_LIMIT = "over_limit"  # units of one buyer beyond the round's limit
    LIMITED = "limited"  # told LIMIT, with fewer units than the limit
    LATE = "late"  # a payment was taken after the hold's deadline
    EARLY = "early"  # a hold was called expired before its deadline
    FORGOTTEN = "forgotten"  # told to be a hold after its end, or refused after it was told SOLD
    AFTER_END = "after_end"  # bought in a round after its end was told
    MISJUDGED = "misjudged"  # the audit says something else than books and stock
    IMPOSSIBLE = "impossible"  # no order of what was told makes it true: not linearizable


@dataclass(frozen=True, slots=True)
class Detection:
    """`count` in orders or units; `key` "" for a whole round; `ops` are the history's."""

    wrong: Anomaly
    item: str
    round: int
    count: int
    sentence: str
    key: str = ""
    ops: tuple[int, ...] = ()
