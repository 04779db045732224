"""Notices for phones, next to the round: the class's beginning, and the end of its sale.

A worker reads them from the store at most once a second, however many phones ask the worker. While
the store is away, the worker uses what it read last: the countdown continues.
"""

from __future__ import annotations

import time
from contextlib import suppress

import redis

from app.domain import StoreAway, Unreadable
from app.domain.records import decode
from app.service.classroom.ending import Ending, ForOne
from app.service.classroom.members import ITEM
from app.store import classroom as records
from app.store.clients.redis import answering

FRESH = 1.0  # s


class Notices:
    def __init__(self, store: redis.Redis) -> None:
        self.store = store
        self.looked = 0.0  # by time.monotonic()
        self.began = 0  # ms since 1970
        self.ending: Ending | None = None

    def is_of_this_class(self, joined: int) -> bool:
        """Return whether a phone that joined at `joined` (ms since 1970) belongs to this class."""
        self._look()
        return joined >= self.began

    def ending_for(self, buyer: str) -> ForOne | None:
        """Return how the last sale ended for this phone; None if unknown, or if it took no part."""
        self._look()
        return self.ending.of(buyer) if self.ending else None

    def _look(self) -> None:
        if self.looked and time.monotonic() < self.looked + FRESH:
            return
        self.looked = time.monotonic()  # before the read: one try, even if the store is away
        with suppress(StoreAway):
            with answering():
                self.began, ending = records.notices(self.store, ITEM)
            self.ending = None
            with suppress(Unreadable):  # another version's
                self.ending = decode(Ending, ending) if ending else None
