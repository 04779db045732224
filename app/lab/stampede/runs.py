"""Start, find and stop runs; one an item at a time, in whatever process it is asked for."""

from __future__ import annotations

import logging
import re
import secrets
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from importlib.util import find_spec

import orjson

from app.domain import (
    ITEMS,
    ComparisonIsOn,
    DatabaseAway,
    Invalid,
    NotOnSale,
    RunIsOn,
    ShopError,
    StoreAway,
    UnknownRun,
    Unreadable,
)
from app.lab.stampede.record import BOUNDS, How, Run, is_end, kept_events
from app.lab.stampede.sample import Sample
from app.service.refusals import no_run, out_of_bounds
from app.service.rounds import Rounds
from app.store import db, history
from app.store import runs as records
from app.store.keys import COMPARISONS, RunKeys
from app.store.redis import answering
from app.store.runs import Event
from app.store.servers import Servers
from app.text import Text

IDS = re.compile("[a-z]+-[0-9a-f]{10}")  # of runs, and of comparisons
TO_START = 15_000  # ms until a new run's process must have given its first heartbeat
NO_LOAD = Text("Nobody can buy: Locust is not installed here. `make install` brings it.")

log = logging.getLogger(__name__)


class Runs:
    """What the lab asks for, and what a run's own process says."""

    def __init__(self, servers: Servers, rounds: Rounds) -> None:
        self.servers = servers
        self.store = servers.store
        self.rounds = rounds

    def start(
        self,
        item: str,
        mode: str,
        stock: int,
        times: Mapping[str, int],
        crowd: Mapping[str, int],
        drive: Callable[[Run], None],
        comparison: str = "",
    ) -> Run:
        """Begin a round and have it stampeded; `drive` starts the process that does so.

        `crowd` has the BOUNDS; `comparison` is the id of the one that this is a part of. Raises as
        Rounds.start does, RunIsOn, and ComparisonIsOn for any other one. Whatever is
        refused, no round has been started.
        """
        self.check(item, mode, stock, times, crowd)
        id = f"{item}-{secrets.token_hex(5)}"
        with answering():
            if not records.claim(self.store, item, id, TO_START):
                raise RunIsOn(records.on(self.store, item))
        try:
            self._let_no_comparison_be_disturbed(comparison)
            self._mark_last_if_crashed(item)
            round = self.rounds.start(item, mode, stock, times)
            began = Run(id, round, crowd["buyers"], crowd["seconds"], now())
            run = replace(began, comparison=comparison)
            with answering():
                records.put(self.store, item, id, run.encode())
            drive(run)
        except (ShopError, OSError):
            with answering():
                records.release(self.store, item, id)
            raise
        return run

    def check(
        self,
        item: str,
        mode: str,
        stock: int,
        times: Mapping[str, int],
        crowd: Mapping[str, int],
    ) -> None:
        """Raises UnknownItem, and Invalid with everything that is wrong."""
        errors: dict[str, str] = {
            name: out_of_bounds(name, bound)
            for name, bound in BOUNDS.items()
            if not bound.low <= crowd[name] <= bound.high
        }
        if find_spec("locust") is None:
            errors["buyers"] = NO_LOAD
        try:
            self.rounds.check(item, mode, stock, times)
        except Invalid as invalid:
            errors |= invalid.errors
        if errors:
            raise Invalid(errors)

    def _let_no_comparison_be_disturbed(self, ours: str) -> None:
        """A comparison claims first and then looks for runs, we look after we have claimed: of two
        who come at once at least one sees the other."""
        with answering():
            on = records.on(self.store, COMPARISONS)
        if on not in ("", ours):
            raise ComparisonIsOn(on)

    def find(self, id: str) -> Run:
        """One run, on or over. Raises UnknownRun; StoreAway when that may be why."""
        item = id.rpartition("-")[0]
        if item not in ITEMS or not IDS.fullmatch(id):  # a database may refuse to look for it
            raise no_run(id)
        away: StoreAway | None = None
        record: bytes | str | None = None
        try:
            with answering():
                record = records.find(self.store, RunKeys(item, id))
        except StoreAway as error:
            away = error
        if record is None and (kept := self._kept(id, away)):
            record = kept.record
        if record is None:
            raise away or no_run(id)
        return Run.decode(record)

    def _kept(self, id: str, away: StoreAway | None) -> history.Kept | None:
        try:
            with db.answering(), self.servers.sessions() as session:
                return history.find(session, id)
        except DatabaseAway:
            if away:
                raise away from None
            raise

    def kept_events(self, run: Run) -> list[Event]:
        """All events of a run that the store has forgotten. Raises DatabaseAway."""
        kept = self._kept(run.id, None)
        return kept_events(kept.events) if kept else []

    def on(self) -> list[Run]:
        """Those that are on, at most one an item. Raises StoreAway."""
        with answering():
            newest = records.newest(self.store, ITEMS)
        return list(readable(self.find, [id for id, on in newest if id and id == on]))

    def latest(self, most: int) -> list[Run]:
        """The newest of those that have ended. Raises DatabaseAway."""
        with db.answering(), self.servers.sessions() as session:
            return list(readable(Run.decode, history.latest(session, most)))

    def figures(self, run: Run) -> Sample:
        """The newest sample; empty while there is none. Raises StoreAway."""
        if run.ended:
            return run.figures
        with answering():
            event = records.last(self.store, run.keys)
        if event is None or is_end(event):
            return {}
        sample: Sample = orjson.loads(event.data)
        return sample

    def stop(self, id: str) -> Run:
        """Ask a run to end; one that has ended is left as it is. Raises as `find` does."""
        run = self.find(id)
        if run.ended is None:
            with answering():
                records.stop(self.store, run.keys)
        return run

    def _mark_last_if_crashed(self, item: str) -> None:
        """The item's last run may have died unseen: there was no heartbeat when we came."""
        with answering():
            id, _ = records.newest(self.store, [item])[0]
        if id:
            try:
                self.mark_crashed(self.find(id))
            except (UnknownRun, Unreadable):  # it has been forgotten, or is another version's
                return

    def mark_crashed(self, run: Run) -> None:
        """Its process is gone: say so, once, and let nobody buy in its round any more."""
        if run.ended is None:
            figures = self.figures(run)
            self.end_round(run)
            self.finish(replace(run, how=How.CRASHED, figures=figures))

    def end_round(self, run: Run) -> None:
        """End its round, if it is the one that is running."""
        # Somebody else did, or another one is on by now, maybe another version's.
        with suppress(NotOnSale, Unreadable):
            self.rounds.end(run.item, only=run.round.number)

    def finish(self, run: Run) -> None:
        """Write down how it ended, in the store and then in the database. Raises StoreAway."""
        run = replace(run, ended=now())
        with answering():
            first = records.finish(self.store, run.keys, run.id, run.encode(), run.last_word())
            if not first:
                return
            events, _ = records.read(self.store, run.keys, "")
        try:
            with db.answering(), self.servers.sessions.begin() as session:
                history.save(session, run.row(events))
        except DatabaseAway as error:
            log.error("Run %s is kept for a day only, not in the history: %s", run.id, error)


def readable(decode: Callable[[str], Run], records: Iterable[str]) -> Iterator[Run]:
    """Those that can be read; the history tells of the others."""
    for record in records:
        with suppress(Unreadable):
            yield decode(record)


def now() -> int:
    """ms since 1970."""
    return int(time.time() * 1000)
