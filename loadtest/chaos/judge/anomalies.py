"""Kinds of anomalies that the judge detects in a run, and one detection."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Anomaly(StrEnum):
    """Kinds of anomalies, counted in orders unless the comment says units."""

    LOST = "lost"  # told SOLD, and in no book
    TWICE = "twice"  # a key with two orders, told or booked; or an id booked twice
    OVERSOLD = "oversold"  # units booked beyond the stock
    STRANDED = "stranded"  # units that are missing: neither left, held nor sold
    SURPLUS = "surplus"  # units that count twice: left, held and sold exceed the stock
    HELD_ON = "held_on"  # units that are held long after their deadline
    UNBOOKED = "unbooked"  # told SOLD, in the store, and in the end still not in the database
    RETURNED = "returned"  # paid, and its units given back
    DENIED = "denied"  # booked, although every press got a no, or no payment was made
    STRANGER = "stranger"  # booked for another buyer than the one that pressed
    OVER_LIMIT = "over_limit"  # units of one buyer beyond the round's limit
    LIMITED = "limited"  # told LIMIT, with fewer units than the limit
    LATE = "late"  # a payment was taken after the hold's deadline
    EARLY = "early"  # a hold was called expired before its deadline
    FORGOTTEN = "forgotten"  # answered HELD after its end, or refused after an answer SOLD
    AFTER_END = "after_end"  # bought in a round after the answer that it has ended
    UNOPENED = "unopened"  # bought in a round before it has opened
    MISTOLD = "mistold"  # told a price or a deadline that is not the order's own
    MISJUDGED = "misjudged"  # the audit says something else than books and stock
    STUCK = "stuck"  # all was repaired, and a buyer got no answer of a shop that knows its stock
    ALARM = "alarm"  # the audit found damage, or the store a loss, that no fault explains
    IMPOSSIBLE = "impossible"  # no order of the moves makes all answers true: not linearizable


@dataclass(frozen=True, slots=True)
class Detection:
    """One anomaly: `count` orders or units; `key` is "" for a whole round; `ops` are its ops."""

    wrong: Anomaly
    item: str
    round: int
    count: int
    sentence: str
    key: str = ""
    ops: tuple[int, ...] = ()
