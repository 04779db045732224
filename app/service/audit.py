"""The audit: stocked, left, held and sold, from records that no mode counts; and a verdict.

stocked = the round's record · left = the stock key · sold = the distinct order ids in stream ∪
database, with their quantities · held = units in holds, not paid for · recorded = the server's own
count of the stream's entries. All of that is read in one step.

A round that sells in the database has no stream: left = its row, or its rows, sold = its orders. A
dead letter that can be read counts as sold, as its buyer got that answer. With any dead letter, the
round is not exact.
"""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import replace

import redis

from app.domain import Outcome, Round
from app.service.ledgers import Ledgers
from app.service.pairing import Pairing
from app.service.snapshot import Snapshot
from app.service.verdict import Audit, Verdict, sentence
from app.service.worker_status import BEAT_S, WorkerStatus, worker_statuses
from app.store import loss_marks
from app.store.clients.redis import answering
from app.store.keys import Keys
from app.store.sql.orders import OrderLine

WORKERS_WORD_S = 3 * BEAT_S  # to wait for each worker's report whether it was quiet meanwhile


class Auditor:
    """Compares rounds with the books, in any process."""

    def __init__(self, store: redis.Redis, ledgers: Ledgers, pairing: Pairing) -> None:
        self.store = store
        self.ledgers = ledgers
        self.pairing = pairing

    def audit(self, round: Round) -> Audit:
        """Read the books, then wait up to WORKERS_WORD_S for every worker's status at that moment.

        *settling* when a worker was selling, has not answered, or sales still wait to be booked.
        Raises WrongPair, StoreAway, DatabaseAway, also when the round's stock is lost there.
        """
        self.pairing.check(round.item)
        audit = self._audit(round)
        if not audit.settled and not audit.in_flight:  # the last purchase may just have ended
            audit = self._audit(round)
        with answering():
            lost = loss_marks.of_round(self.store, round.item, round.number)
        return audit.downgraded(lost) if lost else audit

    def _audit(self, round: Round) -> Audit:
        before = self._count(round)
        snapshot = self.ledgers.of(round).snapshot(round)
        after = self._count(round)
        deadline = time.monotonic() + WORKERS_WORD_S
        while True:
            with answering():
                workers = worker_statuses(self.store, round)
            heard = all(status.spoke_after(after) for status in workers)
            if heard or time.monotonic() > deadline:
                quiet = heard and all(status.quiet_before(before) for status in workers)
                return judge(round, snapshot, workers, quiet)
            time.sleep(BEAT_S / 5)

    def _count(self, round: Round) -> int:
        """Count the start or the end of a reading; each worker reports which it knew of.

        See worker_status.
        """
        with answering():
            return int(self.store.incr(Keys(round.item, round.number).readings))


def judge(round: Round, snapshot: Snapshot, workers: list[WorkerStatus], quiet: bool) -> Audit:
    """Compare what was sold with what was stocked, and return the audit."""
    others = snapshot.others
    booked = len(snapshot.rows) + others.orders
    in_store = [*snapshot.waiting, *snapshot.dead]
    bought = snapshot.rows | {
        order.id: OrderLine(order.id, order.quantity, order.key) for order in in_store
    }
    sold = sum(line.quantity for line in bought.values()) + others.units
    # Paid for and booked since the store was read: it is sold.
    holds = [order for order in snapshot.held if order.id not in bought]
    held = sum(order.quantity for order in holds)
    keys = Counter([*(line.key for line in bought.values()), *(order.key for order in holds)])
    settled = quiet and not snapshot.waiting and not snapshot.unread
    not_booked = len(snapshot.dead) + snapshot.unreadable + snapshot.put_back + snapshot.unread
    oversold = max(0, sold + held - round.stock)
    undersold = max(0, round.stock - snapshot.left - held - sold)
    known = len(bought) + others.orders + snapshot.unreadable + snapshot.unread
    orders_lost = max(0, snapshot.confirmed - booked)
    duplicate_ids = max(0, snapshot.recorded - known - orders_lost)
    duplicate_keys = sum(count - 1 for count in keys.values()) + others.orders - others.keys
    orders_without_sale = max(0, booked - snapshot.recorded)
    broken = duplicate_ids + duplicate_keys + orders_without_sale + snapshot.astray
    # Naive selling never drives the stock below zero: sold + left can exceed what was stocked
    # long before sold alone does.
    unaccounted = sold + held + snapshot.left != round.stock
    answers = sum((Counter(status.answers) for status in workers), Counter[str]())
    if not settled:
        verdict = Verdict.SETTLING
    elif oversold:
        verdict = Verdict.OVERSOLD
    elif not_booked or orders_lost:
        # Before undersold: a sale that cannot be read may account for the missing units.
        verdict = Verdict.INCONSISTENT
    elif undersold:
        verdict = Verdict.UNDERSOLD
    elif broken or unaccounted:
        verdict = Verdict.INCONSISTENT
    elif round.running and not sold and not held and not answers.total():
        verdict = Verdict.UNTOUCHED
    else:
        verdict = Verdict.EXACT
    audit = Audit(
        item=round.item,
        round=round.number,
        mode=round.mode,
        running=round.running,
        settled=settled,
        verdict=verdict,
        sentence="",
        stocked=round.stock,
        left=snapshot.left,
        sold=sold,
        orders=booked,
        oversold=oversold,
        undersold=undersold,
        duplicate_ids=duplicate_ids,
        duplicate_keys=duplicate_keys,
        sales_without_order=len(bought.keys() - snapshot.rows.keys()),
        orders_without_sale=orders_without_sale,
        in_flight=sum(status.in_flight for status in workers),
        answers={
            outcome.value: answers[outcome] for outcome in Outcome if outcome != Outcome.ROUND_OVER
        },
        conflicts=sum(status.conflicts for status in workers),
        locks_lost=sum(status.locks_lost for status in workers),
        not_booked=not_booked,
        held=held,
        units_astray=snapshot.astray,
        in_doubt=snapshot.in_doubt,
        orders_lost=orders_lost,
    )
    return replace(audit, sentence=sentence(audit))
