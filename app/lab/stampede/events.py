"""Events of a run or a comparison for a screen, from where it left off to the end."""

from __future__ import annotations

import time
from collections.abc import Iterator

from app.domain import StoreAway
from app.lab.stampede.jobs import AnyJob, Jobs
from app.lab.stampede.record import Run, is_end
from app.lab.stampede.runs import Runs
from app.store import runs as records
from app.store.clients.redis import answering
from app.store.runs import AT_ONCE
from app.store.runs import Event as Event  # for the views, too

EVERY = 0.5  # s between two looks; samples come as often
# While the store answers, a run counts as dead when its heartbeat was missing for this long: after
# a store that was away its process needs a moment to show that it lives.
DOUBT_S = 1.5
AWAY, BACK = Event("", "away", "{}"), Event("", "back", "{}")


def follow(jobs: Jobs[AnyJob], job: AnyJob, after: str) -> Iterator[Event | None]:
    """Yield the events after the one with the id `after` ("": all), each once, until the last.

    Yields None when there is no event, so that the sender notices a closed connection. Yields AWAY,
    which has no id, while the store does not answer, and BACK when it does again. If the job's
    process is gone, marks the job as crashed.
    """
    missing: float | None = None
    away = False
    while True:
        try:
            with answering():
                events, on = records.read(jobs.store, job.keys, after)
            if away:
                away = False
                yield BACK
            yield from events
            if any(map(is_end, events)):
                return
            if events:
                after = events[-1].id
            if len(events) == AT_ONCE:
                continue
            if on == job.id:
                missing = None
            elif missing is None:
                missing = time.monotonic()
            elif time.monotonic() - missing > DOUBT_S:
                missing = None
                jobs.mark_crashed(jobs.find(job.id))
        except StoreAway:
            missing, away = None, True
            yield AWAY
        else:
            if not events:
                yield None
        time.sleep(EVERY)


def all_kept(runs: Runs, run: Run, after: str) -> list[Event]:
    """Return the events of a run that has ended, after the one with that id.

    Raises StoreAway, and DatabaseAway for a run that is only in the database.
    """
    with answering():
        events = records.read(runs.store, run.keys, "").events
    events = events or runs.kept_events(run)
    ids = [event.id for event in events]
    return events[ids.index(after) + 1 :] if after in ids else events
