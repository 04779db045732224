"""Start, end and describe rounds."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

from app.domain import (
    ITEMS,
    ROUND_BOUNDS,
    DatabaseAway,
    Invalid,
    Lacking,
    Round,
    WrongPair,
)
from app.locks import LOCKS
from app.modes import IN_SQL, MODES
from app.service.catalogue import in_rows, most_stock, needs
from app.service.hand_over import HandOver
from app.service.known import full_name, known, readable
from app.service.refusals import (
    no_field,
    no_item,
    no_round,
    not_running,
    out_of_bounds,
    too_many_rows,
)
from app.service.trust import Trust
from app.store import db, lacks
from app.store import rounds as records
from app.store import stock as table
from app.store.redis import answering
from app.store.servers import Servers
from app.text import Text

log = logging.getLogger(__name__)


class Stocked(Exception):
    """The item has a round already."""


class Rounds:
    """The instructor's hand on the store, and on the stock of rounds that sell in the database."""

    def __init__(self, servers: Servers) -> None:
        self.servers = servers
        self.store = servers.store
        self.trust = Trust(servers)
        self.hand_over = HandOver(servers)

    def start(
        self, item: str, mode: str, stock: int, times: Mapping[str, int], tickets: bool = False
    ) -> Round:
        """Begin a round, ending the item's running one. `times` sets any of ROUND_BOUNDS.

        Raises as `check` does, and StoreAway; DatabaseAway when it, or the one before, sells there;
        StockHeld; Unreadable when the newest one is not for us to end; Lacking when the store has
        lost something of the item.
        """
        wanted = replace(self.check(item, mode, stock, times), tickets=tickets)
        return self._begin(wanted, self._ready)

    def _begin(self, wanted: Round, ready: records.Ready) -> Round:
        wanted = replace(wanted, masters=self._masters(wanted.mode))
        self.newest(wanted.item)
        above, asked = self.trust.above(wanted.item)
        with answering():
            new = records.start(self.store, wanted, above, in_database(wanted.mode), ready)
        if asked:  # else nobody waits for the database twice
            self.trust.begun(new)
        return new

    def _ready(self, before: Round | None, new: Round) -> bool:
        """Hand over from a round that sold in the database, stock one there. False: look again."""
        if before and in_database(before.mode) and not self.hand_over.done(before):
            self.hand_over.make(before)
            return False
        return not in_database(new.mode) or self._put(new)

    def _ready_first(self, before: Round | None, new: Round) -> bool:
        if before:
            raise Stocked
        return self._ready(before, new)

    def check(self, item: str, mode: str, stock: int, times: Mapping[str, int]) -> Round:
        """The round as it would be started.

        Raises UnknownItem, and Invalid with a sentence for each field that is wrong.
        """
        _check_item(item)
        members: dict[str, Any] = {"stock": stock, **times}
        errors = _out_of_bounds(members)
        try:
            mode = full_name(mode)
            if missing := self.missing(mode):
                errors["mode"] = missing
            if "stock" not in errors and stock > (most := most_stock(mode)):
                errors["stock"] = too_many_rows(mode, most)
        except Invalid as invalid:
            errors |= invalid.errors
        if errors:
            raise Invalid(errors)
        return replace(Round(item, 0, 0, mode), **members)

    def _put(self, round: Round) -> bool:
        """Stock a round in the database. False: somebody else is starting that very one."""
        with db.answering(), self.servers.sessions.begin() as session:
            return table.put(session, round, in_rows=in_rows(round.mode))

    def _masters(self, mode: str) -> str:
        return self.servers.known_masters.identities() if needs(mode) == "masters" else ""

    def with_masters(self, round: Round) -> Round | None:
        """Return a running round; one of an older version lists the masters of this host from now.

        Raises Invalid when these cannot be listed, StoreAway.
        """
        if round.masters or not (masters := self._masters(round.mode)):
            return round
        with answering():
            return records.replace_record(self.store, round, replace(round, masters=masters))

    def missing(self, mode: str) -> str:
        """What a mode, or its recipe, needs and does not have here; "" when nothing."""
        return self.servers.missing(needs(mode))

    def end(self, item: str, only: int | None = None) -> Round:
        """The running round; with `only` that one and no other.

        Raises UnknownItem, NotOnSale when it does not run, StoreAway (it may have ended: ask
        again), Unreadable.
        """
        _check_item(item)
        self.newest(item)
        with answering():
            ended = records.end(self.store, item, only)
            self.servers.copied(item)  # also for who asks again: a failover would have it run on
        if ended is None:
            raise not_running(item)
        if in_database(ended.mode) and not self.hand_over.close(ended):
            log.warning("round %d of %s has ended, its row not yet", ended.number, item)
        return ended

    def now(self) -> int:
        """ms since 1970, as all who compare moments of a round have it. Raises StoreAway."""
        return self.servers.clock.now()

    def opens_in(self, round: Round) -> int:
        """ms until it sells; 0 when it does. Raises StoreAway."""
        return min(round.delay, max(0, round.opens - self.now())) if round.delay else 0

    def newest(self, item: str) -> Round | None:
        """The item's newest round, running or ended. Raises StoreAway, Unreadable."""
        with answering():
            found = records.newest(self.store, item)
        return found and known(found)

    def find(self, item: str, number: int | None = None) -> Round:
        """One round, the newest unless `number` says.

        Raises UnknownRound, StoreAway, Unreadable; Lacking when the store may have lost it.
        """
        with answering():
            if number is None:
                found = records.newest(self.store, item)
            else:
                found = records.find(self.store, item, number)
            lost = lacks.every(self.store, [item]) if found is None else []
        if lost:
            raise Lacking(lost[0])
        if found is None:
            raise no_round(item, number)
        return known(found)

    def left(self, round: Round) -> int | None:
        """Units left in stock. Raises StoreAway or DatabaseAway, where the stock is."""
        if in_database(round.mode):
            with db.answering(), self.servers.sessions() as session:
                return table.left(session, round)
        with answering():
            return records.left(self.store, round)

    def shelf(self) -> list[records.Shelved]:
        """Every item with its newest round and the units left in it. Raises StoreAway.

        With the database away, the units in it are not known: None. In the place of a round that
        cannot be read stands the error.
        """
        with answering():
            shelf = records.shelf(self.store)
        rows: list[records.Shelved] = [(item, readable(round), left) for item, round, left in shelf]
        left = self._left_in_database([round for _, round, _ in rows if isinstance(round, Round)])
        return [(item, round, left.get(item.slug, units)) for item, round, units in rows]

    def _left_in_database(self, rounds: list[Round]) -> dict[str, int | None]:
        """Units by item, of those of `rounds` that sell there; none when it is away."""
        there = [round for round in rounds if in_database(round.mode)]
        try:
            with db.answering(), self.servers.sessions() as session:
                return {round.item: table.left(session, round) for round in there}
        except DatabaseAway as error:
            log.warning("%s", error)
            return {}

    def open_shop(self, mode: str) -> list[Round]:
        """Start a first round of every item that never had one; leave the others as they are.

        And those of which the store has lost something: what it has no round of may have had one.
        Raises Invalid for a mode that is unknown or an exhibit.
        """
        check_default(mode)
        with answering():
            shelf = records.shelf(self.store)
            lacking = {lack.item for lack in lacks.every(self.store, ITEMS)}
        never = [item for item, round, _ in shelf if round is None and item.slug not in lacking]
        opened = []
        for item in never:
            # Stocked meanwhile by another host; a wrong pair was named before.
            with suppress(Stocked, WrongPair):
                wanted = self.check(item.slug, mode, item.stock, {})
                opened.append(self._begin(wanted, self._ready_first))
        return opened


def _check_item(item: str) -> None:
    if item not in ITEMS:
        raise no_item(item)


def in_database(mode: str) -> bool:
    """Does this mode sell from the database? Then its stock is there, and its orders at once."""
    return MODES[mode.partition(":")[0]].needs in IN_SQL


def check_default(mode: str) -> None:
    """Raises Invalid for a mode that we would not sell with unless asked to."""
    if is_exhibit(full_name(mode)):
        raise Invalid(
            {"mode": Text("DEFAULT_MODE is %(mode)s, which is broken on purpose.", mode=mode)}
        )


def is_exhibit(mode: str) -> bool:
    """Is this mode, or its recipe, broken on purpose?"""
    name, _, recipe = mode.partition(":")
    return MODES[name].exhibit or bool(recipe and LOCKS[recipe].exhibit)


def _out_of_bounds(values: Mapping[str, int]) -> dict[str, str]:
    errors: dict[str, str] = {}
    for name, value in values.items():
        bound = ROUND_BOUNDS.get(name)
        if bound is None:
            errors[name] = no_field(name)
        elif not bound.low <= value <= bound.high:
            errors[name] = out_of_bounds(name, bound)
    return errors
