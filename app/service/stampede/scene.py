"""What can be seen of a round while it sells, without an audit: cheap, and of this moment."""

from __future__ import annotations

from typing import Any

from app.domain import Round
from app.service.rounds import Rounds, in_database
from app.service.tally import posts
from app.store import db, orders
from app.store import rounds as records
from app.store.redis import answering

# Modes of which one purchase at a time can be in its critical section; all others wait.
ONE_AT_A_TIME = ("lock", "watched_blind", "watched", "fenced", "fused", "sql_lock")


def look(rounds: Rounds, round: Round) -> dict[str, Any]:
    """Units left and sold, purchases under way, those of them who wait for a lock, conflicts.

    `waiting` is None for a mode without a lock; else everybody under way but the one who can hold
    it. Workers say so four times a second. Raises StoreAway, DatabaseAway.
    """
    left = rounds.left(round)
    if in_database(round.mode):
        with db.answering(), rounds.servers.sessions() as session:
            sold = orders.units_of_round(session, round.item, round.number)
    else:
        with answering():
            sold = records.recorded(rounds.store, round)
    with answering():
        workers = posts(rounds.store, round)
    in_flight = sum(post.in_flight for post in workers)
    locks = round.mode.partition(":")[0] in ONE_AT_A_TIME
    return {
        "left": left,
        "sold": sold,
        "in_flight": in_flight,
        "waiting": max(0, in_flight - 1) if locks else None,
        "conflicts": sum(post.conflicts for post in workers),
    }
