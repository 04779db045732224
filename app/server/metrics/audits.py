"""The newest audit of each item's newest round, for clients that ask every few seconds.

An audit reads all orders of a round, so no request waits for one. If the last audits are EVERY old,
a request starts new ones of all items in a thread; later requests get the results.
"""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass

from app.domain import ITEMS, ShopError
from app.service.audit import Auditor
from app.service.rounds import Rounds
from app.service.verdict import Audit

EVERY = 60.0  # s


@dataclass(frozen=True)
class Audited:
    audit: Audit
    at: float  # s since 1970


class Audits:
    """The last audits, by item. Threads may share it."""

    def __init__(self, rounds: Rounds, auditor: Auditor) -> None:
        self.rounds = rounds
        self.auditor = auditor
        self.found: dict[str, Audited] = {}  # by item
        self.lock = threading.Lock()
        self.next = 0.0  # by time.monotonic()

    def known(self) -> list[Audited]:
        """Return each item's last audit without waiting; a thread starts new ones if due."""
        with self.lock:
            due = time.monotonic() >= self.next
            if due:
                self.next = float("inf")  # while one is under way
        if due:
            threading.Thread(target=self._look, name="audits", daemon=True).start()
        return list(self.found.values())

    def _look(self) -> None:
        try:
            for item in ITEMS:
                self._audit(item)
        finally:
            self.next = time.monotonic() + EVERY

    def _audit(self, item: str) -> None:
        """Audit an item. If that fails, the last audit stays, with its time."""
        try:
            round = self.rounds.newest(item)
            last = self.found.get(item)
            if round is None or (last and _is_final(last.audit, round.number)):
                return
            self.found[item] = Audited(self.auditor.audit(round), time.time())
        except ShopError:
            return


def _is_final(audit: Audit, newest: int) -> bool:
    """Return whether the audited round has ended, and all its purchases with it."""
    return audit.round == newest and audit.settled and not audit.running
