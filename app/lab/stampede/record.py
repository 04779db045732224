"""The record of a run: its request, and how it ended."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

import orjson

from app.domain import Bound, Newer, Round, records
from app.lab.stampede.sample import Sample
from app.service.catalogue import require_supported
from app.service.verdict import Audit, Verdict
from app.store.keys import RunKeys
from app.store.runs import END, Event
from app.store.sql.history import RunRow
from app.text import Text

BOUNDS = {"buyers": Bound(1, 512, Text("buyers")), "seconds": Bound(1, 120, Text("s"))}


class How(StrEnum):
    """How a run ended; "" while it is on."""

    FINISHED = "finished"  # its time was up, or all was sold
    STOPPED = "stopped"  # Stop was pressed
    OVERTAKEN = "overtaken"  # another round of the item was started, or this one ended
    FAILED = "failed"  # the load generator died; `why` is its last error
    INTERRUPTED = "interrupted"  # the lab was stopped
    CRASHED = "crashed"  # the process that drove it is gone


@dataclass(frozen=True)
class Run:
    """One stampede. Times are in ms since 1970, `seconds` is how long it may sell.

    `figures` is the last sample; `audit` None: it was never audited.
    """

    id: str
    round: Round
    buyers: int
    seconds: int
    started: int
    ended: int | None = None
    how: str = ""
    why: str = ""
    figures: Sample = field(default_factory=Sample)
    audit: Audit | None = None
    comparison: str = ""  # id of the comparison that it is part of

    @property
    def item(self) -> str:
        return self.round.item

    @property
    def keys(self) -> RunKeys:
        return RunKeys(self.item, self.id)

    def encode(self) -> bytes:
        return records.encode(self)

    @classmethod
    def decode(cls, record: bytes | str) -> Run:
        """Decode a record. Raises Unreadable."""

        def read(members: Any) -> Round:
            try:
                return require_supported(records.make(Round, members))
            except Newer:
                raise Newer from None  # the run's record is newer, not the round's

        return records.decode(cls, record, round=read, audit=_audit)

    def last_word(self) -> bytes:
        """The data of its last event."""
        return orjson.dumps({"how": self.how, "figures": self.figures})

    def row(self, events: list[Event]) -> RunRow:
        return RunRow(
            id=self.id,
            item=self.item,
            mode=self.round.mode,
            started=self.started,
            how=self.how,
            record=self.encode().decode(),
            events=orjson.dumps([list(each) for each in events]).decode(),
            comparison=self.comparison,
        )


def _audit(members: Any) -> Audit | None:
    def verdict(word: Any) -> Verdict:
        try:
            return Verdict(word)
        except ValueError:
            raise Newer from None

    return members and records.make(Audit, members, verdict=verdict)


def kept_events(text: str) -> list[Event]:
    """Return the events of a row."""
    return [Event(*each) for each in orjson.loads(text)]


def is_end(event: Event) -> bool:
    return event.kind == END
