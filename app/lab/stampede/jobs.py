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
    """One kind of them. At a `place` (an item, or COMPARISONS) at most one is on."""

    kind: type[AnyJob]
    unknown: type[ShopError]  # raised for an id that neither store nor database has
    is_on: type[RunIsOn] | type[ComparisonIsOn]  # raised while one is on
    table: type[history.RunRow] | type[history.ComparisonRow]

    def __init__(self, servers: Servers) -> None:
        self.servers = servers
        self.store = servers.store

    @abstractmethod
    def place(self, id: str) -> str:
        """The place of a job of that id; "" for what is no id of ours."""

    @abstractmethod
    def no_job(self, id: str) -> ShopError:
        """An `unknown`, in words."""

    @abstractmethod
    def crashed(self, job: AnyJob) -> AnyJob:
        """The job as it has ended by a crash; what it had begun is ended, too."""

    @abstractmethod
    def over(self, job: AnyJob) -> AnyJob:
        """The job as it ends now."""

    @abstractmethod
    def row(self, job: AnyJob) -> Any:
        """Its row of `table`. Raises StoreAway."""

    @contextmanager
    def beginning(self, place: str, id: str) -> Iterator[None]:
        """Keep the place for a job that begins; when that fails, others may begin.

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
        """The last one there may have died unseen: there was no heartbeat when we came."""
        with answering():
            id = records.newest(self.store, [place])[0].newest
        if id:
            try:
                self.mark_crashed(self.find(id))
            except (self.unknown, Unreadable):  # it has been forgotten, or is another version's
                return

    def find(self, id: str) -> AnyJob:
        """One of them, on or over. Raises `unknown`; StoreAway when that may be why."""
        away: StoreAway | None = None
        record: bytes | str | None = None
        if (place := self.place(id)) and IDS.fullmatch(id):  # a database may refuse to look for it
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
        """Its row in the database; None: there is none.

        Raises DatabaseAway, or rather `away`, why the store did not answer before.
        """
        try:
            with db.answering(), self.servers.sessions() as session:
                return session.get(self.table, id)
        except DatabaseAway:
            if away:
                raise away from None
            raise

    def stop(self, id: str) -> AnyJob:
        """Ask one to end; one that has ended is left as it is. Raises as `find` does."""
        job = self.find(id)
        if job.ended is None:
            with answering():
                records.stop(self.store, job.keys)
        return job

    def mark_crashed(self, job: AnyJob) -> None:
        """Its process is gone: say so, once."""
        if job.ended is None:
            self.finish(self.crashed(job))

    def finish(self, job: AnyJob) -> None:
        """Write down how it ended, in the store and then in the database. Raises StoreAway."""
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
    """ms since 1970."""
    return int(time.time() * 1000)
