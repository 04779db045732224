"""A purchase that did not sell: its status, its title, and the members of its answer.

Sale and refusal have `Tried` in common.
"""

from __future__ import annotations

from typing import TypedDict

from app.domain import Outcome
from app.text import Text

# outcome -> (status, title)
OUTCOMES = {
    Outcome.SOLD_OUT: (409, Text("Sold out")),
    Outcome.LIMIT: (409, Text("Limit reached")),
    Outcome.BUSY: (503, Text("Busy")),
}


class Tried(TypedDict):
    """How a purchase went. `left` in units, null when the mode did not get to see the stock."""

    outcome: Outcome
    left: int | None
    attempts: int  # the first try is attempt 1
    conflicts: int  # lost races
    mode: str
    round: int
    round_trips: int
    commands: int  # sent to the store or the database
    lock_lost: bool  # at the release, the lock was not the buyer's any more


class NotSold(Tried):
    """Further members of a problem. `yours`: this browser has bought the round's last unit."""

    yours: bool


class OverLimit(NotSold):
    """How many units the buyer has `bought` in the round, and how many a buyer may have."""

    bought: int | None
    per_buyer: int


def named(outcome: Outcome) -> str:
    """Return an outcome's name in the contract: SOLD_OUT is `sold-out`."""
    return outcome.lower().replace("_", "-")
