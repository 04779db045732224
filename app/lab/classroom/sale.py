"""The class's sale: start it, close it, and read how it stands."""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from app.domain import ClassIsOn, NotOnSale, Order, Round, RunIsOn, StoreAway, Unreadable
from app.domain.records import encode
from app.lab.stampede.runs import Runs
from app.lab.stampede.scene import look
from app.service.audit import Auditor
from app.service.classroom.ending import Ending
from app.service.classroom.members import ITEM, Members
from app.service.rounds import Rounds
from app.service.selling import holder
from app.service.verdict import Audit
from app.service.worker_status import worker_statuses
from app.store import classroom as records
from app.store.clients.redis import answering
from app.store.sql import db, orders
from app.text import Text

TO_START = 10_000  # ms for which an instructor's start of a sale blocks other starts
LONGEST = 30_000  # ms that a sale is open, unless it is closed or all have bought
SOONEST = 5_000  # ms before which only an empty shelf closes it: phones may wake up late
QUIET = 2.0  # s without a purchase after which a sale that can be over is over


class Phase(StrEnum):
    """Phases of a sale to a class."""

    IDLE = "idle"  # there was none yet
    WAITING = "waiting"  # the countdown
    SELLING = "selling"
    SETTLING = "settling"  # closed; the audit is not sure yet
    OVER = "over"


@dataclass(frozen=True)
class Standing:
    """How the newest sale stands. `sold` is None if it was not read, `audit` until it is over."""

    phase: Phase
    round: Round | None = None
    left: int | None = None
    sold: int | None = None
    audit: Audit | None = None


class ClassSale:
    """The class's sale.

    Any process that reads a sale that is due closes it: none has to live for it.
    """

    def __init__(self, rounds: Rounds, auditor: Auditor, runs: Runs, members: Members) -> None:
        self.rounds = rounds
        self.auditor = auditor
        self.runs = runs
        self.members = members
        self.store = rounds.store

    def start(self, mode: str, stock: int, times: Mapping[str, Any]) -> Round:
        """Begin a sale, with its countdown (`delay`).

        Raises as Rounds.start does; ClassIsOn while the last sale is on or another process starts
        one, RunIsOn while a stampede is on: a second instructor cannot end a sale.
        """
        self.rounds.check(ITEM, mode, stock, times)
        with self._between_sales():
            for run in self.runs.on():
                if run.item == ITEM:
                    raise RunIsOn(run.id)
            one_each = {**times, "limit": 1}
            round = self.rounds.start(ITEM, mode, stock, one_each, tickets=True)
            with answering():
                records.note_sale(self.store, ITEM, round.number)
        return round

    def begin_class(self) -> None:
        """Begin a new class: screens and phones forget the old one; its orders stay in the books.

        Raises ClassIsOn while its sale is on, StoreAway, DatabaseAway.
        """
        with self._between_sales(), answering():
            records.begin(self.store, ITEM, self.rounds.now())

    @contextmanager
    def _between_sales(self) -> Iterator[None]:
        """Check that no sale is on, and let none begin in the block. Raises ClassIsOn."""
        token = secrets.token_hex(8)
        with answering():
            if not records.claim(self.store, ITEM, token, TO_START):
                raise ClassIsOn(Text("Another request is starting a sale at this moment."))
        try:
            if self.standing().phase in (Phase.WAITING, Phase.SELLING):
                raise ClassIsOn(Text("A sale is on: wait for its end, or close it."))
            yield
        finally:
            with suppress(StoreAway), answering():  # the claim expires by itself
                records.release(self.store, ITEM, token)

    def newest(self) -> Round | None:
        """Return the newest sale's round; None if it is another version's. Raises StoreAway."""
        with answering():
            number = records.sale(self.store, ITEM)
        try:
            return None if number is None else self.rounds.find(ITEM, number)
        except Unreadable:
            return None

    def close(self, number: int) -> None:
        """End the sale of that round, unless it has ended or is another version's.

        Raises StoreAway.
        """
        with answering():
            ours = records.sale(self.store, ITEM)
        if ours == number:
            with suppress(NotOnSale, Unreadable):
                self.rounds.end(ITEM, only=number)

    def standing(self) -> Standing:
        """Return how the newest sale stands; close it when it is over.

        Raises StoreAway, DatabaseAway.
        """
        round = self.newest()
        if round is None:
            return Standing(Phase.IDLE)
        if not round.running:
            return Standing(Phase.SETTLING, round)
        if self.rounds.opens_in(round):
            return Standing(Phase.WAITING, round, round.stock, 0)
        sample = look(self.rounds, round)
        if self._is_over(round, sample["left"], sample["sold"]):
            self.close(round.number)
        return Standing(Phase.SELLING, round, sample["left"], sample["sold"])

    def judged(self, standing: Standing) -> Standing:
        """Return a closed sale's standing with its audit: OVER once the audit is sure.

        The phones then get the result. Raises StoreAway, DatabaseAway.
        """
        if standing.round is None or standing.round.running:
            return standing
        audit = self.auditor.audit(standing.round)
        phase = Phase.OVER if audit.settled else Phase.SETTLING
        if audit.settled:
            self._tell_the_phones(standing.round, audit.sold)
        return Standing(phase, standing.round, audit.left, audit.sold, audit)

    def _tell_the_phones(self, round: Round, sold: int) -> None:
        ending = Ending(round.number, round.stock, sold, self.buyers(round))
        with answering():
            records.note_ending(self.store, ITEM, encode(ending))

    def _is_over(self, round: Round, left: int | None, sold: int) -> bool:
        """Return whether all are served or the time is up, and no purchase is under way.

        A worker that hangs delays this for no longer than a purchase may take.
        """
        open_for = self.rounds.now() - round.opens
        served = left == 0
        if open_for > SOONEST:
            served = served or sold >= max(1, len(self.members.present()))
        if open_for < LONGEST and not served:
            return False
        with answering():
            workers = worker_statuses(self.store, round)
        quiet = all(status.quiet_for(QUIET) for status in workers)
        return quiet or open_for > LONGEST + round.think + round.wait

    def buyers(self, round: Round) -> list[str]:
        """Return the buyers of the round, in the order of their purchases.

        Raises StoreAway, DatabaseAway.
        """
        waiting = self.rounds.ledgers.of(round).unbooked(round)
        with db.answering(), self.rounds.servers.sessions() as session:
            rows = orders.of_round(session, round.item, round.number)
        keys = {row.id: row.key for row in rows}
        for sale in waiting:
            with suppress(Unreadable):  # whosever it is
                order = Order.decode(sale)
                keys[order.id] = order.key
        return [buyer for id in sorted(keys) if (buyer := holder(round, keys[id]))]
