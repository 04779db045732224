"""A round's figures while it sells, without an audit: cheap, and of this moment."""

from __future__ import annotations

from app.domain import Round
from app.lab.stampede.sample import Sample
from app.modes import Way
from app.service.rounds import Rounds
from app.service.worker_status import worker_statuses
from app.store.clients.redis import answering


def look(rounds: Rounds, round: Round) -> Sample:
    """Return all of a sample that the shop knows: left, sold, in_flight, waiting and conflicts.

    `waiting` is None for a mode without a lock; otherwise all purchases under way except the one
    that can hold it. Workers report it four times a second. Raises StoreAway, DatabaseAway.
    """
    ledger = rounds.ledgers.of(round)
    left, sold = ledger.left(round), ledger.sold(round)
    with answering():
        workers = worker_statuses(rounds.store, round)
    in_flight = sum(status.in_flight for status in workers)
    locks = Way.of(round.mode).mode.one_at_a_time
    return {
        "left": left,
        "sold": sold,
        "in_flight": in_flight,
        "waiting": max(0, in_flight - 1) if locks else None,
        "conflicts": sum(status.conflicts for status in workers),
    }
