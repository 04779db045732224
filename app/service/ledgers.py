"""Choose where a round's stock, sales and holds are kept: in the store, or in the database."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

from app.domain import Round
from app.modes import Way
from app.service.database_ledger import DatabaseLedger
from app.service.store_ledger import StoreLedger
from app.store.servers import Servers

Ledger = StoreLedger | DatabaseLedger


class Ledgers:
    """The ledgers over one store and one database."""

    def __init__(self, servers: Servers) -> None:
        self.servers = servers
        self.store = StoreLedger(servers)

    @cached_property
    def database(self) -> DatabaseLedger:
        return DatabaseLedger(self.servers, in_rows=False)

    @cached_property
    def rows(self) -> DatabaseLedger:
        return DatabaseLedger(self.servers, in_rows=True)

    def of(self, round: Round) -> Ledger:
        match Way.of(round.mode).mode.needs:
            case "rows":
                return self.rows
            case "database":
                return self.database
            case _:
                return self.store

    def left_in_database(self, rounds: Iterable[Round]) -> dict[str, int | None]:
        """Return the units left by item, of those `rounds` that sell there. Raises DatabaseAway."""
        return self.database.left_of(round for round in rounds if not self.of(round).in_store)
