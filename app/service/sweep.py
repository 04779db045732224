"""fulfil's sweep: what nobody has paid for in time is on sale again, whoever looks or not."""

from __future__ import annotations

import threading

from app.domain import ITEMS, Round, Unreadable
from app.service.aside import Aside
from app.service.holds import Holds
from app.service.known import has
from app.store import rounds
from app.store.keys import Keys
from app.store.redis import answering
from app.store.servers import Servers

TURN = 0.5  # s between two sweeps: units come back that late at the most
MOST = 100  # holds of a round in one sweep: others wait for their turn meanwhile


class Sweep:
    """One thread's. Several may sweep: a hold is settled and put back once."""

    def __init__(self, servers: Servers, holds: Holds) -> None:
        self.store = servers.store
        self.holds = holds
        self.aside = Aside()
        self.known: dict[tuple[str, int], bool] = {}  # (item, round) -> does it hold?

    def run(self, stop: threading.Event) -> None:
        while not stop.wait(TURN):
            try:
                self.sweep()
            except Exception as error:  # noqa: BLE001  `put` logs it
                self.aside.put("the sweep", error)

    def sweep(self) -> int:
        """How many came back. Raises StoreAway, DatabaseAway."""
        with answering():
            streams, _ = rounds.open_streams(self.store, list(ITEMS))
            found = [self._round(names) for names in streams if self._holds(names)]
        back = sum(self._sweep(round) for round in found if round)
        # Whatever sells now: a round may have begun, held and ended while nobody looked.
        return back + self.holds.sweep_database(MOST)

    def _sweep(self, round: Round) -> int:
        try:
            return self.holds.sweep(round, MOST)
        except Exception as error:  # noqa: BLE001  the other rounds' units come back
            self.aside.put(f"the sweep of round {round.number} of {round.item}", error)
            return 0

    def _holds(self, names: Keys) -> bool:
        name = names.item, names.number
        if name not in self.known:
            round = self._round(names)
            self.known[name] = bool(round and round.hold)
        return self.known[name]

    def _round(self, names: Keys) -> Round | None:
        try:
            found = rounds.find(self.store, names.item, names.number)
            return found if found and has(found.mode) else None
        except Unreadable:  # a newer version's, which sweeps its own
            return None
