"""fulfil's lag: the sales that wait to be booked, and for how long; read from the store alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import redis

from app.domain import ITEMS
from app.store import keys, rounds
from app.store.clients.redis import answering


@dataclass(frozen=True)
class Lag:
    """One item's lag.

    `waiting` sales are not booked yet, the oldest since `age` ms (0: none waits). `dead_letters`
    cannot be booked. `error` is "" unless the item could not be read in full.
    """

    item: str
    waiting: int = 0
    age: int = 0
    dead_letters: int = 0
    error: str = ""


# At the item's own node: in a cluster each node has a clock of its own.
TIME = "return redis.call('TIME')"


def lag(store: redis.Redis) -> list[Lag]:
    """Return each item's lag, in two round trips (on a cluster two a node). Raises StoreAway.

    The age is by the store's clock alone: an entry's id against TIME.
    """
    with answering():
        streams, failed = rounds.open_streams(store, list(ITEMS))
        pipe = store.pipeline(transaction=False)
        for item in ITEMS:
            pipe.eval(TIME, 1, keys.dead_letters(item))
            pipe.xlen(keys.dead_letters(item))
        for names in streams:
            pipe.xlen(names.sales)
            pipe.xrange(names.sales, count=1)
        answers = iter(pipe.execute(raise_on_error=False))
    replies = {item: [next(answers), next(answers)] for item in ITEMS}
    read: dict[str, list[Any]] = {item: [] for item in ITEMS}
    for names in streams:
        read[names.item] += [next(answers), next(answers)]
    return [_lag(item, [*replies[item], *read[item]], failed.get(item)) for item in ITEMS]


def _lag(item: str, answers: list[Any], error: Exception | None) -> Lag:
    """Return one item's lag from `answers`.

    They are the time, the dead letters, then each stream's length and its oldest entry.
    """
    errors = [each for each in (error, *answers) if isinstance(each, Exception)]
    if errors:
        return Lag(item, error=str(errors[0]))
    (seconds, micros), dead_letters, *streams = answers
    oldest = [int(entries[0][0].partition(b"-")[0]) for entries in streams[1::2] if entries]
    now = int(seconds) * 1000 + int(micros) // 1000
    age = max(0, now - min(oldest)) if oldest else 0
    return Lag(item, sum(streams[::2]), age, dead_letters)
