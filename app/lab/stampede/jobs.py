"""The life of a long job, a run or a comparison: begun, found, stopped, crashed or finished.

Each has a process of its own, with a heartbeat in the store. Its record is in the store for a day,
and in the database once it has ended.
"""

from __future__ import annotations

import logging
import re
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Generic, Protocol, Self, TypeVar

from app.domain import ComparisonIsOn, DatabaseAway, RunIsOn, ShopError, StoreAway, Unreadable
from app.store import runs as records
from app.store.clients.redis import answering
from app.store.keys import RunKeys
from app.store.servers import Servers
from app.store.sql import db, history

IDS = re.compile("[a-z]+-[0-9a-f]{10}")
TO_START = 15_000  # ms until a new job's process must have given its first heartbeat

log = logging.getLogger(__name__)


class Job(Protocol):
    """A run, or a comparison."""

    @property
    def id(self) -> str: ...

    @property
    def ended(self) -> int | None: ...

    @property
    def keys(self) -> RunKeys: ...

    def encode(self) -> bytes: ...

    @classmethod
    def decode(cls, record: bytes | str) -> Self: ...

    def last_word(self) -> bytes: ...


AnyJob = TypeVar("AnyJob", bound=Job)


class Jobs(ABC, Generic[AnyJob]):
    """All jobs of one kind. At a `place` (an item, or COMPARISONS) at most one is on."""

    kind: type[AnyJob]
    unknown: type[ShopError]  # raised for an id that neither store nor database has
    is_on: type[RunIsOn] | type[ComparisonIsOn]  # raised while one is on
    table: type[history.RunRow] | type[history.ComparisonRow]

    def __init__(self, servers: Servers) -> None:
        self.servers = servers
        self.store = servers.store

    @abstractmethod
    def place(self, id: str) -> str:
        """Return the place of a job with that id; "" for a text that is no id of ours."""

    @abstractmethod
    def no_job(self, id: str) -> ShopError:
        """Return an `unknown` error with its sentence."""

    @abstractmethod
    def crashed(self, job: AnyJob) -> AnyJob:
        """Return the job as ended by a crash, and end all that it had begun."""

    @abstractmethod
    def over(self, job: AnyJob) -> AnyJob:
        """Return the job with its end, at this moment."""

    @abstractmethod
    def row(self, job: AnyJob) -> Any:
        """Return its row of `table`. Raises StoreAway."""

    @contextmanager
    def beginning(self, place: str, id: str) -> Iterator[None]:
        """Claim the place for a job that begins; if that fails, release it.

        Raises `is_on`, StoreAway.
        """
        with answering():
            if not records.claim(self.store, place, id, TO_START):
                raise self.is_on(records.on(self.store, place))
        try:
            yield
        except (ShopError, OSError):
            with answering():
                records.release(self.store, place, id)
            raise

    def mark_last_if_crashed(self, place: str) -> None:
        """Mark the place's last job as crashed if it died unnoticed: no job has a heartbeat now."""
        with answering():
            id = records.newest(self.store, [place])[0].newest
        if id:
            try:
                self.mark_crashed(self.find(id))
            except (self.unknown, Unreadable):  # its record has expired, or is another version's
                return

    def find(self, id: str) -> AnyJob:
        """Return a job, on or over. Raises `unknown`; StoreAway when that may be why."""
        away: StoreAway | None = None
        record: bytes | str | None = None
        if (place := self.place(id)) and IDS.fullmatch(id):  # other texts a database may refuse
            try:
                with answering():
                    record = records.find(self.store, RunKeys(place, id))
            except StoreAway as error:
                away = error
            if record is None and (row := self.kept(id, away)):
                record = row.record
        if record is None:
            raise away or self.no_job(id)
        return self.kind.decode(record)

    def kept(self, id: str, away: StoreAway | None = None) -> Any:
        """Return its row in the database, or None.

        Raises DatabaseAway, or rather `away`, the error with which the store has not answered.
        """
        try:
            with db.answering(), self.servers.sessions() as session:
                return session.get(self.table, id)
        except DatabaseAway:
            if away:
                raise away from None
            raise

    def stop(self, id: str) -> AnyJob:
        """Ask a job to end; one that has ended is left as it is. Raises as `find` does."""
        job = self.find(id)
        if job.ended is None:
            with answering():
                records.stop(self.store, job.keys)
        return job

    def mark_crashed(self, job: AnyJob) -> None:
        """Write, once, that the job's process is gone."""
        if job.ended is None:
            self.finish(self.crashed(job))

    def finish(self, job: AnyJob) -> None:
        """Write how it ended, into the store and then into the database. Raises StoreAway."""
        over = self.over(job)
        with answering():
            if not records.finish(self.store, over.keys, over.id, over.encode(), over.last_word()):
                return
        row = self.row(over)
        try:
            with db.answering(), self.servers.sessions.begin() as session:
                history.save(session, row)
        except DatabaseAway as error:
            log.error("%s is kept for a day only, not in the history: %s", over.id, error)


def now() -> int:
    """Return ms since 1970."""
    return int(time.time() * 1000)
