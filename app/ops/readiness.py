"""Readiness: can the shop sell, and do its sales become orders? For /readyz, the lab and `check`.

Each check has a state and a sentence. Only `failing` makes the shop unready: `unwell` is reported,
and the shop keeps selling. A sentence about a server has no words of the server: any client may
ask.
"""

from __future__ import annotations

import logging
import threading
import time
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property, reduce

import redis
from sqlalchemy import Engine

from app.domain import ITEMS, DatabaseAway, Round, StoreAway, Unreadable, WrongPair
from app.ops import process_status, replication
from app.ops.lag import Lag, lag
from app.ops.process_status import ProcessState, ProcessStatus
from app.service.catalogue import readable, unfit
from app.service.pairing import Pairing
from app.store import keys, loss_marks, rounds
from app.store.clients.redis import answering
from app.store.servers import Servers
from app.store.sql import db, orders
from app.text import Text, counted, together

FRESH = 1.0  # s for which an answer is reused: a storm of probes costs nothing
STALE = 10.0  # s after which it is too old even for a caller that would have to wait for a new one
DATABASE_ANSWER_MS = 1_000  # longest wait for the database; a page may wait for longer
FEW_CONNECTIONS = 5  # left in the database: the next buyers may get BUSY for it
PROBE_LIFE = 1_000  # ms until the probe's key expires
# Sales wait for 0.1 s as a rule, for 2 s while fulfil starts again, and for some seconds after a
# stampede. The database may be away for a moment. A sale that waits for longer is not served.
LONGEST_LAG = 30_000  # ms
SILENT = 10.0  # s without a report of the supervisor, which writes one every second

log = logging.getLogger(__name__)


class State(StrEnum):
    OK = "ok"
    UNWELL = "unwell"  # the operator should know; the shop sells and books
    FAILING = "failing"


@dataclass(frozen=True)
class Check:
    """`name` is store, database, orders, dead_letters, or a process that `up` keeps.

    rounds, store replicas, database connections: only where they fail.
    """

    name: str
    state: State
    sentence: str  # a Text where a page may show it


@dataclass(frozen=True)
class Readings:
    """The results of all checks at one time."""

    checks: tuple[Check, ...] = ()
    at: float = -STALE  # s of time.monotonic()

    @property
    def ready(self) -> bool:
        return all(check.state is not State.FAILING for check in self.checks)

    @property
    def complaints(self) -> list[Check]:
        return [check for check in self.checks if check.state is not State.OK]


class Readiness:
    """One process's checks; each of its threads may ask."""

    def __init__(self, servers: Servers) -> None:
        self.servers = servers
        self._found = Readings()
        self._asking = threading.Lock()

    def look(self) -> Readings:
        """Return results not older than FRESH; while one thread checks, others get the last."""
        age = time.monotonic() - self._found.at
        if age > FRESH and self._asking.acquire(blocking=age > STALE):
            try:
                if time.monotonic() - self._found.at > FRESH:  # else we waited for another caller
                    self._found = Readings(self._checks(), time.monotonic())
            finally:
                self._asking.release()
        return self._found

    def _checks(self) -> tuple[Check, ...]:
        lags = self._waiting()
        booked = (_orders(lags), _dead_letters(lags))
        rest = (*self._replicas(), *self._rounds(), *self._processes(), *self.connections())
        return (self._store(), self._database(), *booked, *rest)

    def _store(self) -> Check:
        """Check the store by a real write: without memory or disk it would still answer reads."""
        pipe = self.servers.store.pipeline(transaction=False)
        for item in ITEMS:
            pipe.set(keys.probe(item), 1, px=PROBE_LIFE)
        try:
            answers = pipe.execute(raise_on_error=False)
        except redis.RedisError as error:
            answers = [error]
        errors = [answer for answer in answers if isinstance(answer, redis.RedisError)]
        if not errors:
            return self._trusted()
        log.warning("The store takes no write: %s", errors[0])
        if len(errors) < len(answers):
            hit = [item for item, answer in zip(ITEMS, answers, strict=True) if answer in errors]
            sentence = Text("The store takes no writes for: %(items)s.", items=hit)
            return Check("store", State.UNWELL, sentence)
        return Check("store", State.FAILING, _refusal(errors[0]))

    def _trusted(self) -> Check:
        """Return the check of a store that takes writes, and of the losses in it.

        Items with a loss are not sold until a person has accepted or repaired it; all others are.
        """
        try:
            with answering():
                lost = loss_marks.every(self.servers.store, ITEMS)
        except StoreAway as error:
            log.warning("Whether the store has lost something cannot be seen: %s", error)
            return Check("store", State.FAILING, Text("The store does not answer."))
        except Unreadable as error:
            return Check("store", State.UNWELL, error.sentences()[0])
        if not lost:
            return Check("store", State.OK, Text("The store takes writes."))
        if len(lost) == 1:
            return Check("store", State.UNWELL, lost[0].sentence)
        sentence = Text(
            "%(what)s It has lost something of these, too: %(items)s. Nothing of all that is sold "
            "until it is mended, each by lastapple audit ITEM --repair (or --accept).",
            what=lost[0].what,
            items=[lack.item for lack in lost[1:]],
        )
        return Check("store", State.UNWELL, sentence)

    def _rounds(self) -> list[Check]:
        """Return a check that fails when this host cannot sell in a round that runs."""
        try:
            with answering():
                shelf = [readable(round) for _, round, _ in rounds.shelf(self.servers.store)]
        except StoreAway:  # see `_store`
            return []
        running = [round for round in shelf if isinstance(round, Round) and round.running]
        why = dict.fromkeys(why for round in running if (why := unfit(self.servers, round)))
        return [Check("rounds", State.FAILING, reduce(together, why))] if why else []

    def _replicas(self) -> list[Check]:
        """Return a check for each primary whose sales no replica can confirm, if any should."""
        if self.servers.settings.durability != "replicated":
            return []
        sentences = replication.unconfirmed(self.servers.store)
        return [Check("store replicas", State.FAILING, sentence) for sentence in sentences]

    @cached_property
    def _engine(self) -> Engine:
        settings = self.servers.settings
        return db.engine(settings.database, min(DATABASE_ANSWER_MS, settings.database_timeout), 1)

    def _database(self) -> Check:
        """Check the database over a new connection: it takes none from pages and sellers.

        It cannot hang on a dead connection either.
        """
        try:
            sessions = db.sessions(self._engine)
            with db.answering(), sessions() as session:
                orders.look(session)
            for item in ITEMS:
                Pairing(self.servers, sessions).check(item)
        except WrongPair as error:
            return Check("database", State.FAILING, error.sentences()[0])
        except StoreAway:  # the store's own check reports it
            pass
        except DatabaseAway as error:
            log.warning("%s", error)
            sentence = Text("The database does not answer: sales wait in the store.")
            full = isinstance(error, db.NoConnection)
            return Check("database", State.FAILING, error.sentences()[0] if full else sentence)
        finally:
            self._engine.dispose()
        return Check("database", State.OK, Text("The database answers."))

    def connections(self) -> list[Check]:
        """Return a check where PostgreSQL has too few connections for this host and all others."""
        try:
            connections = db.connections(self._engine)
        except DatabaseAway:  # see `_database`
            return []
        finally:
            self._engine.dispose()
        if connections is None:
            return []
        (limit, used), wanted = connections, self.servers.most_connections
        if wanted <= limit and used + FEW_CONNECTIONS <= limit:
            return []
        sentence = Text(
            "The database takes %(most)s connections, and has %(used)s; the shop of this host "
            "alone may take %(wanted)s.",
            most=limit,
            used=used,
            wanted=wanted,
        )
        return [Check("database connections", State.UNWELL, together(sentence, db.RAISE_THEM))]

    def orders(self) -> Check:
        """Check fulfil by the sales that wait: only its own machine knows whether it runs."""
        return _orders(self._waiting())

    def _waiting(self) -> list[Lag]:
        """Return each item's lag; nothing when the store does not answer."""
        try:
            lags = lag(self.servers.store)
        except StoreAway as error:
            log.warning("Whether sales wait cannot be seen: %s", error)
            return []
        return [] if all(each.error for each in lags) else lags

    def _processes(self) -> list[Check]:
        """Return checks of the processes that `up` keeps and that are not well.

        None in a container of its own.
        """
        report = process_status.read(self.servers.settings.standings)
        if report is None:
            return []
        if report.age > SILENT:
            sentence = Text(
                "The supervisor has said nothing for %(seconds)s s: "
                "gone, frozen, or without a disk.",
                seconds=round(report.age),
            )
            return [Check("processes", State.UNWELL, sentence)]
        unwell = [_of(each) for each in report.processes if each.state is not ProcessState.RUNNING]
        return unwell or [Check("processes", State.OK, Text("All processes of the shop run."))]


def _orders(found: list[Lag]) -> Check:
    if not found:
        sentence = Text("Whether sales become orders cannot be seen: the store does not answer.")
        return Check("orders", State.FAILING, sentence)
    longest = max(each.age for each in found)
    if longest <= LONGEST_LAG:
        return Check("orders", State.OK, Text("Sales become orders."))
    sentence = Text(
        "Sales wait to become orders, one for %(seconds)s s (%(items)s).",
        seconds=longest // 1000,
        items=[each.item for each in found if each.age > LONGEST_LAG],
    )
    return Check("orders", State.FAILING, sentence)


def _dead_letters(found: list[Lag]) -> Check:
    """Return the check of dead letters: they wait for a person, while the shop sells on."""
    if not found:
        return Check("dead_letters", State.UNWELL, Text("The store does not answer."))
    count = sum(each.dead_letters for each in found)
    if not count:
        return Check("dead_letters", State.OK, Text("Every sale could be booked."))
    sentence = counted(
        "%(num)s sale could not be booked: see lastapple deadletter list.",
        "%(num)s sales could not be booked: see lastapple deadletter list.",
        count,
    )
    return Check("dead_letters", State.UNWELL, sentence)


def _refusal(error: redis.RedisError) -> Text:
    """Return the sentence for an error with which the store has refused a write."""
    match error:
        case redis.OutOfMemoryError():
            return Text("The store is out of memory and takes no writes.")
        case redis.ReadOnlyError():
            return Text("The store is read-only.")
        case redis.BusyLoadingError():
            return Text("The store still loads its data.")
        case redis.ResponseError() if str(error).startswith("MISCONF"):
            return Text("The store cannot write to its disk and takes no writes.")
        case redis.ResponseError() if str(error).startswith("NOREPLICAS"):
            return Text("The store has no replica and takes no writes without one.")
        case redis.ResponseError():
            return Text("The store refuses to write.")
    return Text("The store does not answer.")


def _of(each: ProcessStatus) -> Check:
    """Check a process that does not run, or does not answer.

    One that just started is no failure.
    """
    match each.state:
        case ProcessState.DOWN:
            sentence = counted(
                "%(name)s has died %(num)s time and is about to be started again.",
                "%(name)s has died %(num)s times in a row and is about to be started again.",
                each.deaths,
                name=each.name,
            )
        case ProcessState.STARTING:
            sentence = Text("%(name)s was started and has not answered yet.", name=each.name)
        case _:
            sentence = Text(
                "%(name)s runs and has not answered for %(seconds)s s.",
                name=each.name,
                seconds=round(each.silent),
            )
    failing = each.essential and each.state is not ProcessState.STARTING
    return Check(each.name, State.FAILING if failing else State.UNWELL, sentence)
