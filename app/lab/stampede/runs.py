"""Start, find and stop runs: one at a time for each item, in any process."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from importlib.util import find_spec

import orjson

from app.domain import ITEMS, ComparisonIsOn, Invalid, NotOnSale, RunIsOn, UnknownRun, Unreadable
from app.lab.stampede.jobs import Jobs, now
from app.lab.stampede.record import BOUNDS, How, Run, is_end, kept_events
from app.lab.stampede.sample import Sample
from app.service.refusals import outside
from app.service.rounds import Rounds
from app.store import runs as records
from app.store.clients.redis import answering
from app.store.keys import COMPARISONS
from app.store.runs import Event
from app.store.servers import Servers
from app.store.sql import db, history
from app.text import Text

NO_LOAD = Text("There are no buyers: Locust is not installed here. Install it with `make install`.")


class Runs(Jobs[Run]):
    """The records of all runs, for the lab and for each run's process."""

    kind = Run
    unknown = UnknownRun
    is_on = RunIsOn
    table = history.RunRow

    def __init__(self, servers: Servers, rounds: Rounds) -> None:
        super().__init__(servers)
        self.rounds = rounds

    def place(self, id: str) -> str:
        item = id.rpartition("-")[0]
        return item if item in ITEMS else ""

    def no_job(self, id: str) -> UnknownRun:
        return UnknownRun(Text("There is no run %(id)s, or none any more.", id=repr(id)))

    def over(self, job: Run) -> Run:
        return replace(job, ended=now())

    def row(self, job: Run) -> history.RunRow:
        with answering():
            return job.row(records.read(self.store, job.keys, "").events)

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
        """Begin a round and a stampede on it; `drive` starts the stampede's process.

        `crowd` has the BOUNDS; `comparison` is the id of the comparison that this run is part of.
        Raises as Rounds.start does, RunIsOn, and ComparisonIsOn for any other comparison. After any
        error, no round has been started.
        """
        self.check(item, mode, stock, times, crowd)
        id = f"{item}-{secrets.token_hex(5)}"
        with self.beginning(item, id):
            self._let_no_comparison_be_disturbed(comparison)
            self.mark_last_if_crashed(item)
            round = self.rounds.start(item, mode, stock, times)
            began = Run(id, round, crowd["buyers"], crowd["seconds"], now())
            run = replace(began, comparison=comparison)
            with answering():
                records.put(self.store, item, id, run.encode())
            drive(run)
        return run

    def check(
        self,
        item: str,
        mode: str,
        stock: int,
        times: Mapping[str, int],
        crowd: Mapping[str, int],
    ) -> None:
        """Check a run's fields. Raises UnknownItem, and Invalid with all errors."""
        errors = outside(BOUNDS, crowd)
        if find_spec("locust") is None:
            errors["buyers"] = NO_LOAD
        try:
            self.rounds.check(item, mode, stock, times)
        except Invalid as invalid:
            errors |= invalid.errors
        if errors:
            raise Invalid(errors)

    def _let_no_comparison_be_disturbed(self, ours: str) -> None:
        """Raise ComparisonIsOn if another comparison is on.

        A comparison claims first and then looks for runs; a run looks for comparisons after its
        claim. If both start at once, at least one sees the other.
        """
        with answering():
            on = records.on(self.store, COMPARISONS)
        if on not in ("", ours):
            raise ComparisonIsOn(on)

    def kept_events(self, run: Run) -> list[Event]:
        """Return all events of a run that the store has deleted. Raises DatabaseAway."""
        row = self.kept(run.id)
        return kept_events(row.events) if row else []

    def on(self) -> list[Run]:
        """Return the runs that are on, at most one per item. Raises StoreAway."""
        with answering():
            newest = records.newest(self.store, ITEMS)
        return list(readable(self.find, [row.newest for row in newest if row.newest_is_on]))

    def latest(self, most: int) -> list[Run]:
        """Return the newest runs that have ended. Raises DatabaseAway."""
        with db.answering(), self.servers.sessions() as session:
            return list(readable(Run.decode, history.latest(session, most)))

    def figures(self, run: Run) -> Sample:
        """Return the newest sample; empty while there is none. Raises StoreAway."""
        if run.ended:
            return run.figures
        with answering():
            event = records.last(self.store, run.keys)
        if event is None or is_end(event):
            return {}
        sample: Sample = orjson.loads(event.json)
        return sample

    def crashed(self, job: Run) -> Run:
        """Return the run as crashed, and end its round, so that it sells no more."""
        figures = self.figures(job)
        self.end_round(job)
        return replace(job, how=How.CRASHED, figures=figures)

    def end_round(self, run: Run) -> None:
        """End its round, if it is the one that is running."""
        # Another process has ended it, or another round runs by now, maybe another version's.
        with suppress(NotOnSale, Unreadable):
            self.rounds.end(run.item, only=run.round.number)


def readable(decode: Callable[[str], Run], records: Iterable[str]) -> Iterator[Run]:
    """Yield the records that can be read; the history shows the others."""
    for record in records:
        with suppress(Unreadable):
            yield decode(record)
