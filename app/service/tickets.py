"""Tickets: the keys of a round that sells one order to each of those it is for.

A key buys once, so a ticket does, in however many tabs it is pressed. The shop signs it for its
buyer; nobody else's key may look like one (app/shop/form_keys.py).
"""

from __future__ import annotations

from app.domain import Round

MARK = "class-"


def ticket(round: Round, buyer: str) -> str:
    """The idempotency key of a buyer in this round."""
    return f"{MARK}{round.number}-{buyer}"


def holder(round: Round, key: str) -> str:
    """Whose ticket of this round a key is; "": it is none."""
    mark = ticket(round, "")
    return key.removeprefix(mark) if key.startswith(mark) else ""
