"""The newest audit of each item's newest round, for those who ask every few seconds.

An audit reads all orders of a round: nobody's question makes one. It starts one of all items beside
it, if the last is EVERY old; who asks next is told what came of it.
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
    """Used by several threads."""

    def __init__(self, rounds: Rounds, auditor: Auditor) -> None:
        self.rounds = rounds
        self.auditor = auditor
        self.found: dict[str, Audited] = {}  # by item
        self.lock = threading.Lock()
        self.next = 0.0  # by time.monotonic()

    def known(self) -> list[Audited]:
        """As they were found. Makes nobody wait."""
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
        """One that cannot be made leaves the last one, which says when it was."""
        try:
            round = self.rounds.newest(item)
            last = self.found.get(item)
            if round is None or (last and _is_final(last.audit, round.number)):
                return
            self.found[item] = Audited(self.auditor.audit(round), time.time())
        except ShopError:
            return


def _is_final(audit: Audit, newest: int) -> bool:
    """The round has ended, and all its purchases with it."""
    return audit.round == newest and audit.settled and not audit.running
