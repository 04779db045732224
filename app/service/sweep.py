"""fulfil's sweep: units that are not paid for in time are on sale again, whoever looks or not."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from typing import TypeVar

from app.domain import ITEMS
from app.service.aside import Aside
from app.service.holds import Holds
from app.service.pairing import Pairing

TURN = 0.25  # s between two sweeps of an item: units come back that late at the most
MOST = 500  # holds that come back in one step: it is short enough to be in no buyer's way

Done = TypeVar("Done")


class Sweep:
    """Used by one thread for each item. Several may sweep: a hold comes back once."""

    def __init__(self, holds: Holds, pairing: Pairing) -> None:
        self.pairing = pairing
        self.holds = holds
        self.aside = Aside()

    def run(self, item: str, stop: threading.Event) -> None:
        while not stop.wait(TURN):
            if not any(map(self.pairing.is_wrong, ITEMS)):
                self.sweep([item])

    def sweep(self, items: Iterable[str] = ITEMS) -> int:
        """Put back what is due of these items, and answer how many holds came back.

        What fails is logged and tried again after a pause of its own.
        """
        back, ledgers = 0, self.holds.ledgers
        for item in items:
            for place, ledger in (("store", ledgers.store), ("database", ledgers.database)):
                search = f"The search for holds of {item} in the {place}"
                for number in self._try(search, ledger.rounds_with_holds, item) or ():
                    name = f"The sweep of round {number} of {item}"
                    back += self._try(name, self._sweep, item, number) or 0
        return back

    def _try(self, name: str, deed: Callable[..., Done], *words: object) -> Done | None:
        if self.aside.stands(name):
            return None
        try:
            done = deed(*words)
        except Exception as error:  # noqa: BLE001  logged; the other rounds' units come back
            self.aside.put(name, error)
            return None
        self.aside.well(name)
        return done

    def _sweep(self, item: str, number: int) -> int:
        round = self.holds.find(item, number)
        if round is None:
            return 0
        back = 0
        while some := self.holds.sweep(round, MOST):
            back += some
        return back
