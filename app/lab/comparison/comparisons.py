"""Start, find and stop comparisons: one at a time, and no other stampede at the same time."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import orjson

from app.domain import (
    ITEMS,
    ComparisonIsOn,
    Invalid,
    RunIsOn,
    UnknownComparison,
    UnknownRun,
    Unreadable,
)
from app.lab.about import About
from app.lab.comparison.record import BOUNDS, FEWEST, MOST, Comparison, Machine, read
from app.lab.stampede.jobs import Jobs, now
from app.lab.stampede.record import How, Run
from app.lab.stampede.runs import Runs
from app.service.catalogue import parse_way
from app.service.refusals import outside
from app.store import runs as records
from app.store.clients.redis import answering
from app.store.keys import COMPARISONS
from app.store.sql import db, history
from app.text import Text

PREFIX = "comparison-"  # of their ids
LOOK_BACK = 100  # entries of the history; more than a day of lectures


class Comparisons(Jobs[Comparison]):
    """Comparisons, as the lab and a comparison's own process use them."""

    kind = Comparison
    unknown = UnknownComparison
    is_on = ComparisonIsOn
    table = history.ComparisonRow

    def __init__(self, runs: Runs, about: Callable[[], About]) -> None:
        super().__init__(runs.servers)
        self.runs = runs
        self.about = about

    def place(self, id: str) -> str:
        return COMPARISONS if id.startswith(PREFIX) else ""

    def no_job(self, id: str) -> UnknownComparison:
        sentence = Text("There is no comparison %(id)s, or none any more.", id=repr(id))
        return UnknownComparison(sentence)

    def over(self, job: Comparison) -> Comparison:
        return replace(job, ended=now(), run="")

    def row(self, job: Comparison) -> history.ComparisonRow:
        return job.row()

    def start(
        self,
        item: str,
        modes: Sequence[str],
        reference: str,
        stock: int,
        times: Mapping[str, int],
        crowd: Mapping[str, int],
        drive: Callable[[Comparison], None],
    ) -> Comparison:
        """Compare `modes` to the `reference`, which is measured too, chosen or not.

        `crowd` has the BOUNDS of a run and of a comparison; `drive` starts the process that carries
        it out. Raises UnknownItem and Invalid as Runs.check does, ComparisonIsOn, RunIsOn,
        StoreAway.
        """
        names = self._check(item, [reference, *modes], stock, times, crowd)
        wanted = Comparison(
            id=f"{PREFIX}{secrets.token_hex(5)}",
            item=item,
            stock=stock,
            times=dict(times),
            buyers=crowd["buyers"],
            seconds=crowd["seconds"],
            repeats=crowd["repeats"],
            reference=names[0],
            modes=names,
            exhibits=[name for name in names if parse_way(name).exhibit],
            machine=Machine.of(self.about()),
            started=now(),
        )
        with self.beginning(COMPARISONS, wanted.id):
            self._let_no_run_disturb()
            self.mark_last_if_crashed(COMPARISONS)
            with answering():
                records.put(self.store, COMPARISONS, wanted.id, wanted.encode())
            drive(wanted)
        return wanted

    def _check(
        self,
        item: str,
        modes: Sequence[str],
        stock: int,
        times: Mapping[str, int],
        crowd: Mapping[str, int],
    ) -> list[str]:
        """Return the full names, each once. Raises Invalid with all errors."""
        errors = outside(BOUNDS, crowd)
        names: list[str] = []
        for mode in modes:
            try:
                self.runs.check(item, mode, stock, times, crowd)
                names.append(parse_way(mode).name)
            except Invalid as invalid:
                wrong = invalid.errors
                at = "reference" if mode == modes[0] else "modes"
                errors |= {at if name == "mode" else name: text for name, text in wrong.items()}
        names = list(dict.fromkeys(names))
        if not errors and not FEWEST <= len(names) <= MOST:
            errors["modes"] = Text(
                "Choose %(low)s to %(high)s ways to sell, including the reference.",
                low=FEWEST,
                high=MOST,
            )
        if errors:
            raise Invalid(errors)
        return names

    def _let_no_run_disturb(self) -> None:
        """Raise RunIsOn if a run is on; Runs.start looks for comparisons in turn."""
        with answering():
            for item in ITEMS:
                if id := records.on(self.store, item):
                    raise RunIsOn(id)

    def on(self) -> Comparison | None:
        """Return the comparison that is on, or None. Raises StoreAway."""
        with answering():
            id = records.on(self.store, COMPARISONS)
        try:
            return self.find(id) if id else None
        except UnknownComparison:  # it has just claimed its place, and has no record yet
            return None

    def past(self, first: int, most: int) -> list[Run | Comparison | Unreadable]:
        """Return `most` entries of the history after the `first`, newest first.

        Entries are comparisons, and runs that are no part of one. An entry that cannot be read is
        replaced by the error. Raises DatabaseAway.
        """
        with db.answering(), self.servers.sessions() as session:
            rows = history.page(session, first, most)
        return list(map(read, rows))

    def newest_with(self, mode: str) -> Comparison | None:
        """Return the newest ended comparison of `mode`, among the last LOOK_BACK of the history.

        Raises DatabaseAway.
        """
        name = parse_way(mode).name
        for each in self.past(0, LOOK_BACK):
            if isinstance(each, Comparison) and any(result.mode == name for result in each.results):
                return each
        return None

    def tell(self, comparison: Comparison) -> None:
        """Write the comparison's progress, and send it to its screens. Raises StoreAway."""
        with answering():
            records.put(self.store, COMPARISONS, comparison.id, comparison.encode())
            done = orjson.dumps({"done": len(comparison.results)})
            records.add(self.store, comparison.keys, "step", done)

    def crashed(self, job: Comparison) -> Comparison:
        """Return the comparison as crashed; the run that was on dies with it."""
        if job.run:
            self._mark_run_crashed(job.run)
        return replace(job, how=How.CRASHED)

    def _mark_run_crashed(self, id: str) -> None:
        try:
            run = self.runs.find(id)
        except (UnknownRun, Unreadable):
            return
        with answering():
            beats = records.on(self.store, run.item) == id
        if not beats:
            self.runs.mark_crashed(run)
