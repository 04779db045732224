"""fulfil's sweep: units that are not paid for in time are on sale again, whoever looks or not."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from typing import TypeVar

from app.domain import ITEMS
from app.service.aside import Aside
from app.service.holds import Holds
from app.service.pairing import Pairing
from app.service.rounds import in_database
from app.store import rounds
from app.store.redis import answering
from app.store.servers import Servers

TURN = 0.25  # s between two sweeps of an item: units come back that late at the most
MOST = 500  # holds that come back in one step: it is short enough to be in no buyer's way

Done = TypeVar("Done")


class Sweep:
    """Used by one thread for each item. Several may sweep: a hold comes back once."""

    def __init__(self, servers: Servers, holds: Holds, pairing: Pairing) -> None:
        self.store = servers.store
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
        back = 0
        for item in items:
            for find in (self._open, self.holds.due_in_database):
                name = f"The search for holds of {item}"
                for number in self._try(f"{name}, {find.__name__},", find, item) or ():
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

    def _open(self, item: str) -> list[int]:
        """Numbers of the item's rounds that may have holds in the store."""
        with answering():
            streams, _ = rounds.open_streams(self.store, [item])
        return [names.number for names in streams]

    def _sweep(self, item: str, number: int) -> int:
        round = self.holds.find(item, number)
        if round is None:
            return 0
        sweep = self.holds.sweep_database if in_database(round.mode) else self.holds.sweep
        back = 0
        while some := sweep(round, MOST):
            back += some
        return back
