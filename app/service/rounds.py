"""Start, end and describe rounds."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

from app.domain import ITEMS, ROUND_BOUNDS, DatabaseAway, Invalid, Lacking, Round, WrongPair
from app.modes import Way
from app.service.catalogue import most_stock, parse_way, readable, require_supported
from app.service.consistency import ConsistencyCheck
from app.service.refusals import (
    no_field,
    no_round,
    not_running,
    out_of_bounds,
    require_item,
    too_many_rows,
)
from app.store import loss_marks
from app.store import rounds as records
from app.store.clients.redis import answering
from app.store.servers import Servers
from app.text import Text

log = logging.getLogger(__name__)


class Stocked(Exception):
    """Raised when the item has a round already."""


class Rounds:
    """Starts and ends rounds: their records in the store, and their stock in the database."""

    def __init__(self, servers: Servers) -> None:
        self.servers = servers
        self.store = servers.store
        self.consistency = ConsistencyCheck(servers)
        self.ledgers = self.consistency.ledgers

    def start(
        self, item: str, mode: str, stock: int, times: Mapping[str, int], tickets: bool = False
    ) -> Round:
        """Begin a round, ending the item's running one. `times` sets any of ROUND_BOUNDS.

        Raises as `check` does, and StoreAway; DatabaseAway when this round, or the one before,
        sells in the database; StockHeld; Unreadable when the newest round is not ours to end;
        Lacking when the store has lost data of the item.
        """
        wanted = replace(self.check(item, mode, stock, times), tickets=tickets)
        return self._begin(wanted, self._ready)

    def _begin(self, wanted: Round, ready: records.Ready) -> Round:
        wanted = replace(wanted, masters=self._masters(wanted.mode))
        self.newest(wanted.item)
        used = self.consistency.used_numbers(wanted.item)
        with answering():
            in_store = self.ledgers.of(wanted).in_store
            new = records.start(self.store, wanted, used.highest, ready, in_store=in_store)
        if used.by_books:  # else a start would wait for the database twice
            self.consistency.begun(new)
        return new

    def _ready(self, before: Round | None, new: Round) -> bool:
        """Hand over from a round that sold in the database, and stock the new one there.

        False: look again.
        """
        if before and not self.ledgers.of(before).handed_over(before):
            return False
        return self.ledgers.of(new).stock(new)

    def _ready_first(self, before: Round | None, new: Round) -> bool:
        if before:
            raise Stocked
        return self._ready(before, new)

    def check(self, item: str, mode: str, stock: int, times: Mapping[str, int]) -> Round:
        """Return the round as `start` would begin it.

        Raises UnknownItem, and Invalid with a sentence for each field that is wrong.
        """
        require_item(item)
        members: dict[str, Any] = {"stock": stock, **times}
        errors = _out_of_bounds(members)
        try:
            wanted = parse_way(mode)
            mode = wanted.name
            if missing := self.missing(mode):
                errors["mode"] = missing
            if "stock" not in errors and stock > (limit := most_stock(wanted)):
                errors["stock"] = too_many_rows(mode, limit)
        except Invalid as invalid:
            errors |= invalid.errors
        if errors:
            raise Invalid(errors)
        return replace(Round(item, 0, 0, mode), **members)

    def _masters(self, mode: str) -> str:
        needed = Way.of(mode).needs == "masters"
        return self.servers.known_masters.identities() if needed else ""

    def with_masters(self, round: Round) -> Round | None:
        """Return a running round; a record of an older version gets this host's masters.

        Raises Invalid when these cannot be listed, StoreAway.
        """
        if round.masters or not (masters := self._masters(round.mode)):
            return round
        with answering():
            return records.replace_record(self.store, round, replace(round, masters=masters))

    def missing(self, mode: str) -> str:
        """Return what a mode or its recipe needs and this host lacks; "" when nothing."""
        return self.servers.missing(Way.of(mode).needs)

    def end(self, item: str, only: int | None = None) -> Round:
        """End the running round and return it; with `only`, end only the round of that number.

        Raises UnknownItem, NotOnSale when it does not run, StoreAway (it may have ended: retry),
        Unreadable.
        """
        require_item(item)
        self.newest(item)
        with answering():
            ended = records.end(self.store, item, only)
            self.servers.copied(item)  # also at a retry: after a failover the round would run on
        if ended is None:
            raise not_running(item)
        if not self.ledgers.of(ended).close(ended):
            log.warning("round %d of %s has ended, its row not yet", ended.number, item)
        return ended

    def now(self) -> int:
        """Return ms since 1970 by the store's clock, by which a round's moments are compared.

        Raises StoreAway.
        """
        return self.servers.clock.now()

    def opens_in(self, round: Round) -> int:
        """Return ms until the round sells; 0 when it does. Raises StoreAway."""
        return min(round.delay, max(0, round.opens - self.now())) if round.delay else 0

    def newest(self, item: str) -> Round | None:
        """Return the item's newest round, running or ended. Raises StoreAway, Unreadable."""
        with answering():
            round = records.newest(self.store, item)
        return round and require_supported(round)

    def find(self, item: str, number: int | None = None) -> Round:
        """Return one round, the newest unless `number` is given.

        Raises UnknownRound, StoreAway, Unreadable; Lacking when the store may have lost it.
        """
        with answering():
            if number is None:
                round = records.newest(self.store, item)
            else:
                round = records.find(self.store, item, number)
            lost = loss_marks.every(self.store, [item]) if round is None else []
        if lost:
            raise Lacking(lost[0])
        if round is None:
            raise no_round(item, number)
        return require_supported(round)

    def left(self, round: Round) -> int | None:
        """Return the units left in stock.

        Raises StoreAway or DatabaseAway, depending on the ledger.
        """
        return self.ledgers.of(round).left(round)

    def shelf(self) -> list[records.Shelved]:
        """Return every item with its newest round and the units left in it. Raises StoreAway.

        If the database is away, the units of a round that sells there are None. A round that cannot
        be read is replaced by the error.
        """
        with answering():
            shelf = records.shelf(self.store)
        rows = [row._replace(round=readable(row.round)) for row in shelf]
        left: dict[str, int | None] = {}
        try:
            left = self.ledgers.left_in_database(
                row.round for row in rows if isinstance(row.round, Round)
            )
        except DatabaseAway as error:
            log.warning("%s", error)
        return [row._replace(left=left.get(row.item.slug, row.left)) for row in rows]

    def open_shop(self, mode: str) -> list[Round]:
        """Start a first round of every item that never had one; leave the others as they are.

        An item of which the store has lost data is left, too: it may have had a round. Raises
        Invalid for a mode that is unknown or an exhibit.
        """
        check_default(mode)
        with answering():
            shelf = records.shelf(self.store)
            lacking = {lack.item for lack in loss_marks.every(self.store, ITEMS)}
        never = [row.item for row in shelf if row.round is None and row.item.slug not in lacking]
        opened = []
        for item in never:
            # Stocked meanwhile by another host; a wrong pair was named before.
            with suppress(Stocked, WrongPair):
                wanted = self.check(item.slug, mode, item.stock, {})
                opened.append(self._begin(wanted, self._ready_first))
        return opened


def check_default(mode: str) -> None:
    """Raise Invalid for a mode in which no round starts unless asked for."""
    if parse_way(mode).exhibit:
        raise Invalid(
            {"mode": Text("DEFAULT_MODE is %(mode)s, which is broken on purpose.", mode=mode)}
        )


def _out_of_bounds(values: Mapping[str, int]) -> dict[str, str]:
    errors: dict[str, str] = {}
    for name, value in values.items():
        bound = ROUND_BOUNDS.get(name)
        if bound is None:
            errors[name] = no_field(name)
        elif not bound.low <= value <= bound.high:
            errors[name] = out_of_bounds(name, bound)
    return errors
