"""A buyer: the real code of a mode in a thread, stopped at every statement that it sends."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from sqlalchemy import Connection, ExceptionContext, event
from sqlalchemy.exc import DBAPIError

from app.domain import Clock, DatabaseAway, Sale, ShopError
from app.explorer.sql import statement_text
from app.explorer.sql.statement import Level, Statement, end, of
from app.store.sql import db
from app.store.sql.transactions import Transactions

LONGEST = 20.0  # s that one thread waits for another: usually milliseconds


class Dropped(Exception):
    """Raised in a purchase that is over: none of its statements may run."""


class StoppedClock(Clock):
    """A clock that stands still: patience never runs out, and a sleep is no step."""

    def now(self) -> float:
        return 0.0

    def sleep(self, seconds: float) -> None:
        pass

    def random(self) -> float:
        return 0.5


class Buyer:
    """A buyer. `transactions` is what a mode asks its servers for; it has one connection."""

    def __init__(self, name: str, url: str, level: Level) -> None:
        self.name = name
        self.level = level
        self.pool = db.engine(url, round(LONGEST * 1000), connections=1)
        engine = self.pool.execution_options(isolation_level=level)
        self.transactions = Transactions(engine, 1)
        for moment in ("before_cursor_execute", "after_cursor_execute", "handle_error"):
            event.listen(engine, moment, getattr(self, f"_{moment}"))
        event.listen(engine, "do_execute", self._close_circle)
        event.listen(engine, "commit", lambda connection: self._stop(connection, end("COMMIT")))
        event.listen(engine, "rollback", self._rollback)
        self.thread = ThreadPoolExecutor(1, f"buyer {name}")
        self.turn = threading.Condition()
        self.pid = 0  # of the server process that serves the connection
        self.purchase: Future[str] | None = None

    def start(self, sell: Callable[[], Sale]) -> None:
        """Begin a purchase; it stops at its first statement."""
        self.next: Statement | None = None  # the statement that waits for its turn
        self.may_go = self.dropped = self.failed = self.awaited = False
        self.said = ""  # the answer to the last statement

        def buy() -> str:
            try:
                return str(sell().outcome)
            except DatabaseAway:
                return "ERROR"  # as the shop answers it

        self.purchase = self.thread.submit(buy)
        self.purchase.add_done_callback(lambda _: self._notify())

    def go(self, awaited: bool) -> None:
        """Send the waiting statement.

        `awaited`: the other waits for a lock; a wait is then a deadlock.
        """
        with self.turn:
            self.awaited = awaited
            self.next, self.said, self.failed, self.may_go = None, "", False, True
            self.turn.notify_all()

    def stands(self, seconds: float) -> bool:
        """Wait up to `seconds`; return whether it is at its next statement, or at its end."""
        with self.turn:
            return self.turn.wait_for(lambda: self.next is not None or self.ended, seconds)

    @property
    def ended(self) -> bool:
        return self.purchase is not None and self.purchase.done()

    @property
    def told(self) -> str:
        """The outcome, "" before the end. Raises the error that broke the purchase."""
        return self.purchase.result() if self.purchase is not None and self.ended else ""

    def drop(self) -> None:
        """Stop the purchase; it is rolled back as it leaves (see `gone`)."""
        with self.turn:
            self.dropped = True
            self.turn.notify_all()

    def gone(self) -> None:
        """Wait until a purchase that was dropped, or is over, has left."""
        if self.purchase is None:
            return
        try:
            self.purchase.result(LONGEST)
        except Dropped:
            pass
        except TimeoutError:
            raise ShopError(f"Buyer {self.name} does not come back from the database.") from None

    def close(self) -> None:
        """Close the connection and end the thread, after `drop`."""
        self.thread.shutdown()
        self.pool.dispose()

    def _notify(self) -> None:
        with self.turn:
            self.turn.notify_all()

    def _stop(self, connection: Connection, statement: Statement) -> None:
        driver: Any = connection.connection.driver_connection
        self.pid = driver.info.backend_pid
        with self.turn:
            if not self.dropped:
                self.next = statement
                self.turn.notify_all()
                if not self.turn.wait_for(lambda: self.may_go or self.dropped, LONGEST):
                    raise ShopError(f"Buyer {self.name} waited too long for its turn.")
            if self.dropped:
                raise Dropped
            self.may_go = False

    def _before_cursor_execute(
        self, connection: Connection, _cursor: Any, sql: str, parameters: object, *_: object
    ) -> None:
        self._stop(connection, of(sql, parameters, self.level))

    def _close_circle(self, cursor: Any, *_: object) -> None:
        """Let the statement look for a deadlock at once; see `database.prepare`."""
        if self.awaited:
            cursor.execute("SET LOCAL deadlock_timeout = '1ms'")

    def _after_cursor_execute(self, _connection: Connection, cursor: Any, *_: object) -> None:
        self.said = statement_text.result(cursor)

    def _handle_error(self, context: ExceptionContext) -> None:
        if isinstance(context.sqlalchemy_exception, DBAPIError):
            self.said, self.failed = statement_text.error(context.original_exception), True

    def _rollback(self, connection: Connection) -> None:
        if not (self.dropped or connection.invalidated):  # then nothing is sent
            self._stop(connection, end("ROLLBACK"))


def wait_until(what: Callable[[], bool], problem: str) -> None:
    """`what` waits a little by itself. Raises ShopError with `problem` after LONGEST."""
    deadline = time.monotonic() + LONGEST
    while not what():
        if time.monotonic() > deadline:
            raise ShopError(problem)
