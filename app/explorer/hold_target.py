"""A way to sell in a round with holds: the steps of buyers and of the sweep, in every order.

The shop's own code runs: the mode sells and puts back, `Holds` settles. `Visit.buy` copies the two
lines of `Purchase` that sweep when nothing is left. ROLES says what each buyer does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from badluck.actor.actor import Actor, Code
from badluck.model.values import Command, Entry
from badluck.report.saved_traces import Columns
from badluck.rule import Rule
from badluck.target import Vocabulary

from app.domain import AlreadyPaid, Hold, HoldOver, Order, Outcome, Round, Stands
from app.explorer import hold_snapshot
from app.explorer.hold_findings import RULES
from app.explorer.hold_snapshot import HeldBook
from app.explorer.servers import GateServers
from app.explorer.targets import Target
from app.modes import Mode, Way
from app.service import holds
from app.service.purchase import SHORT, SWEPT
from app.store.keys import Keys

HOLD_MS = 5_000  # shorter than a lease: so either may run out while the other lasts
FIRST = "A"  # the buyer with the hold that C cancels


class HoldShop(GateServers):
    def copied(self, _: str, *_written: str) -> None:
        """Do nothing: which server has the sale is decided by the fault `failover`."""


@dataclass(frozen=True)
class Holding(Target):
    """A round with holds, `hold` in ms. Each buyer does what its name means in ROLES."""

    hold: int = HOLD_MS

    @cached_property
    def round(self) -> Round:
        return replace(self.usual_round(), hold=self.hold)

    @property
    def alike(self) -> bool:
        return False  # see ROLES

    @property
    def rules(self) -> tuple[Rule, ...]:
        return RULES

    @property
    def columns(self) -> Columns:
        return hold_snapshot.HELD_COLUMNS

    @property
    def vocabulary(self) -> Vocabulary:
        return super().vocabulary._replace(charted=("stock", "held", "lock"))

    @property
    def setting(self) -> str:
        return f"{super().setting}, held for {self.hold / 1000:g} s until they are paid for"

    def terms(self) -> dict[str, int | str]:
        return super().terms() | {"hold_ms": self.hold}

    def surroundings(self) -> AbstractContextManager[None]:
        return _quietly(super().surroundings())

    def setup(self) -> list[list[Command]]:
        store, *masters = super().setup()
        record = self.names.record.encode(), self.round.encode()
        return [[*store, (b"SET", *record)], *masters]

    @property
    def code(self) -> Code:
        usual = super().code
        return usual._replace(shown=(*usual.shown, "app.service.holds", "app.service.store_ledger"))

    @cached_property
    def names(self) -> Keys:
        return Keys(self.round.item, self.round.number)

    def held_by(self, name: str) -> Order:
        """Return the order with the hold whose end this actor's answer reports."""
        return self.order(FIRST if ROLES[name] is second_tab else name)

    def _purchase(self, buyer: Actor) -> str:
        role = ROLES[buyer.name]
        return role(Visit(self, buyer))

    def book(self, entries: dict[bytes, Entry], *_: dict[bytes, Entry]) -> HeldBook:
        return hold_snapshot.read(self.usual_book(entries), entries, self.names)

    def moments(self, entries: dict[bytes, Entry]) -> Iterable[int]:
        return hold_snapshot.moments(entries, self.names, self.hold)


class Visit:
    """One actor's visit to the shop, in a worker of its own."""

    def __init__(self, target: Holding, actor: Actor) -> None:
        servers: Any = HoldShop(target.resend)
        clock: Any = actor.clock
        self.clock = clock
        self.round = target.round
        self.wait = target.hold / 1000
        self.order = target.order(actor.name)
        self.firsts = target.order(FIRST)
        self.mode: Mode = Way.of(self.round.mode).mode(servers, clock, self.round)
        self.holds = holds.Holds(servers, clock)

    def buy(self) -> str:
        """Buy; return HELD, or the outcome of a sale without a hold."""
        sale = self.mode.sell(self.order)
        if sale.outcome in SHORT and self.holds.sweep(self.round, SWEPT) > 0:
            sale = self.mode.sell(self.order)
        return Outcome.HELD if sale.order else sale.outcome

    def pay(self) -> str:
        try:
            self.holds.pay(self.order)
        except HoldOver as error:
            return error.hold.stands
        return Outcome.SOLD


def quick(visit: Visit) -> str:
    """Pay at once; when sold out, come again after the others' holds have run out."""
    outcome = visit.buy()
    if outcome == Outcome.SOLD_OUT:
        visit.clock.sleep(visit.wait)
        outcome = visit.buy()
    return visit.pay() if outcome == Outcome.HELD else outcome


def slow(visit: Visit) -> str:
    """Search for the card for as long as the hold lasts, and pay at the very deadline: too late."""
    outcome = visit.buy()
    if outcome != Outcome.HELD:
        return outcome
    visit.clock.sleep(visit.wait)
    return visit.pay()


def second_tab(visit: Visit) -> str:
    """Cancel A's hold in another tab, and then sweep as fulfil does."""
    outcome = _cancelled(visit)
    visit.holds.sweep(visit.round, SWEPT)
    return outcome


def _cancelled(visit: Visit) -> str:
    try:
        hold: Hold = visit.holds.give_up(visit.firsts, Stands.CANCELLED)
    except AlreadyPaid:
        return NOTHING
    except HoldOver as error:
        hold = error.hold
    return hold.stands


def absent(visit: Visit) -> str:
    """Never come back to pay: its hold runs out with B's, and the next sweep gets both at once."""
    return visit.buy()


NOTHING = "NOTHING"  # there was nothing to cancel: it is paid for, or not yet held
ROLES: dict[str, Callable[[Visit], str]] = {"A": quick, "B": slow, "C": second_tab, "D": absent}


@contextmanager
def _quietly(usual: AbstractContextManager[None]) -> Iterator[None]:
    """Suppress the shop's log: a schedule shows the same troubles."""
    before, holds.log.disabled = holds.log.disabled, True
    try:
        with usual:
            yield
    finally:
        holds.log.disabled = before
