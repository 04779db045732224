"""Two buyers and an observing third connection: one order of their statements, live."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, NamedTuple, Self

from badluck.report.trace import Step
from badluck.target import EPOCH
from sqlalchemy import and_, func, select, text
from sqlalchemy.orm import Session

from app.domain import Clock, Round, Sale, ShopError
from app.explorer.book import Book, Sold
from app.explorer.sql.buyer import LONGEST, Buyer, StoppedClock, wait_until
from app.explorer.sql.statement import Footprint, Level, Statement, Transaction
from app.explorer.targets import Target
from app.modes import Mode, Way
from app.store.sql import db, stock, units
from app.store.sql.orders import OrderRow
from app.store.sql.stock import StockRow

LOOK = 0.004  # s that a statement may take before the server is asked whether it waits for a lock
MakeMode = Callable[[Any, Clock, Round], Mode]
LONGEST_WAIT_MS = 60_000  # a round's maximum: longer than any wait here


class Went(NamedTuple):
    """One step of one buyer."""

    step: Step
    did: Footprint
    woken: bool  # it was waiting, and the other's last step let it continue


class Stage:
    """Keeps the buyers' connections; each `order` begins from a fresh shelf."""

    def __init__(self, url: str, level: Level, target: Target, mode: MakeMode) -> None:
        """`url` is that of a PostgreSQL that was prepared (see `database`)."""
        self.level = level
        self.target = target
        self.round = replace(target.round, wait=LONGEST_WAIT_MS, started=EPOCH)
        self.mode = mode
        self.engine = db.engine(url, round(LONGEST * 1000), connections=1)
        self.outside = self.engine.connect().execution_options(isolation_level="AUTOCOMMIT")
        self.buyers = [Buyer(name, url, level) for name in "AB"]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for buyer in self.buyers:
            buyer.drop()
        for buyer in self.buyers:
            buyer.close()
        self.outside.close()
        self.engine.dispose()

    @contextmanager
    def order(self) -> Iterator[None]:
        """Bring both to their first statement; in the end all that they have begun is over."""
        self.outside.execute(text("TRUNCATE stock, units, receipts, orders"))
        with Session(self.outside) as session:
            stock.put(session, self.round, in_rows=Way.of(self.target.name).in_rows)
        self.transactions = [Transaction(self.level) for _ in self.buyers]
        self.waits: dict[int, Statement] = {}  # for the other's lock
        self.woken: list[int] = []
        self.book = self._look()
        try:
            for buyer in self.buyers:
                buyer.start(self._purchase(buyer))
            for buyer in self.buyers:
                if not buyer.stands(LONGEST):
                    raise ShopError(f"Buyer {buyer.name} does not begin.")
            yield
        finally:
            for buyer in self.buyers:
                buyer.drop()
            for buyer in self.buyers:
                buyer.gone()

    def _purchase(self, buyer: Buyer) -> Callable[[], Sale]:
        mode, order = self.mode(buyer, StoppedClock(), self.round), self.target.order(buyer.name)
        return lambda: mode.sell(order)

    def choices(self) -> tuple[int, ...]:
        """Return the buyers that can go next; one whose lock has become free goes first."""
        if self.woken:
            return (self.woken[0],)
        return tuple(
            number
            for number, buyer in enumerate(self.buyers)
            if number not in self.waits and not buyer.ended
        )

    def go(self, number: int) -> Went:
        """Take the next step of one of `choices`, and all that it lets the other do."""
        buyer = self.buyers[number]
        if number in self.woken:
            self.woken.remove(number)
            statement = self.waits.pop(number)
            return self._went(number, statement, "goes on", f"{statement.verb} goes on")
        if buyer.next is None:
            raise ShopError(f"Buyer {buyer.name} has no next statement.")
        statement = buyer.next
        buyer.go(awaited=1 - number in self.waits)
        if self._blocks(number):
            self.waits[number] = statement
        self.woken = [n for n in self.waits if n != number and not self._blocks(n)]
        does = "blocks" if number in self.waits else "goes"
        return self._went(number, statement, does, statement.text)

    def _blocks(self, number: int) -> bool:
        """Return whether it waits for the other's lock, as the server says.

        Time alone would not tell. The other is idle, or waits: so the answer holds until the
        other's next step.
        """
        buyer, other = self.buyers[number], self.buyers[1 - number]
        query = select(func.pg_blocking_pids(buyer.pid))

        def waits() -> bool:
            # If both wait, the server is about to end the deadlock by failing this one's statement.
            awaited = 1 - number in self.waits
            return not awaited and other.pid in (self.outside.scalar(query) or [])

        wait_until(
            lambda: buyer.stands(LOOK) or waits(),
            f"A statement of buyer {buyer.name} neither comes back nor waits for a lock.",
        )
        return not buyer.stands(0)

    def _went(self, number: int, statement: Statement, does: str, line: str) -> Went:
        buyer = self.buyers[number]
        waits = does == "blocks"
        self.book = self._look()
        answer = "BLOCKS" if waits else buyer.said
        if statement.verb == "BEGIN" and not buyer.failed:
            answer = ""  # the answer to setting the time-outs
        step = Step(
            buyer.name,
            0,
            does,
            0,
            [line],
            [answer] if answer else [],
            "" if waits else buyer.told,
            self.book.shown(),
        )
        did = self.transactions[number].step(statement, failed=buyer.failed and not waits)
        return Went(step, did, woken=does == "goes on")

    def pending(self) -> tuple[str, ...]:
        """Return each buyer's next step."""
        return tuple(buyer.next.text if buyer.next else buyer.told for buyer in self.buyers)

    def outcomes(self) -> tuple[str, ...]:
        """Return each buyer's outcome; nothing until both have finished."""
        outcomes = tuple(buyer.told for buyer in self.buyers)
        return outcomes if all(outcomes) else ()

    def server(self) -> str:
        return f"PostgreSQL {self.outside.scalar(text('SHOW server_version'))}"

    def _look(self) -> Book:
        """Read all that is committed."""
        both = and_(OrderRow.item == StockRow.item, OrderRow.round == StockRow.round)
        left = StockRow.units + units.free(self.round)
        query = select(left, OrderRow.id, OrderRow.quantity).select_from(StockRow)
        query = query.outerjoin(OrderRow, both)
        rows = self.outside.execute(query.where(stock.of(self.round))).all()
        sold = tuple(Sold(id, quantity) for _, id, quantity in rows if id is not None)
        return Book(rows[0][0], tuple(sorted(sold)), None)
