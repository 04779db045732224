"""The heartbeat of a run, or of a comparison: for as long as its process lives."""

from __future__ import annotations

import logging
import threading
from contextlib import suppress
from types import TracebackType

import redis

from app.domain import StoreAway
from app.store import runs as records
from app.store.clients.redis import answering

BEAT_S = 0.5
LIFE_MS = 2_500  # without a beat after which another run may take the item

log = logging.getLogger(__name__)


class Heartbeat:
    """Within `with`, no other run has the item. Entering raises StoreAway."""

    def __init__(self, store: redis.Redis, item: str, id: str) -> None:
        self.store = store
        self.item = item
        self.id = id
        self.lost = False  # another run has the item: this one was thought dead
        self.over = threading.Event()
        self.thread = threading.Thread(target=self._beat, name="heartbeat", daemon=True)

    def __enter__(self) -> Heartbeat:
        with answering():
            records.beat(self.store, self.item, self.id, LIFE_MS)
        self.thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self.over.set()
        self.thread.join()
        with suppress(StoreAway), answering():  # a beat may have come after the end
            records.release(self.store, self.item, self.id)

    def _beat(self) -> None:
        while not self.over.wait(BEAT_S):
            try:
                with answering():
                    alive = records.beat(self.store, self.item, self.id, LIFE_MS)
            except StoreAway as error:  # the next beat may succeed
                log.warning("no beat: %s", error)
            else:
                if not alive:
                    self.lost = True
                    return
