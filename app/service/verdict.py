"""The findings of an audit: figures, verdict, and the texts for both."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import NamedTuple

from app.domain import Outcome
from app.text import Text, counted, together


class Verdict(StrEnum):
    """The verdict on a round; only EXACT is a good one."""

    UNTOUCHED = "untouched"  # on sale, and no purchase was tried: there is nothing to check yet
    SETTLING = "settling"  # sales are under way: nothing can be said yet
    EXACT = "exact"  # every unit is sold once, held or still in stock
    OVERSOLD = "oversold"
    UNDERSOLD = "undersold"  # units are missing: not sold, not held, not in stock
    INCONSISTENT = "inconsistent"  # the numbers add up, the orders do not


HARMLESS = (Verdict.UNTOUCHED, Verdict.EXACT, Verdict.SETTLING)


@dataclass(frozen=True)
class Audit:
    """An audit's findings. All but `verdict`, `sentence` and `answers` are units or counts."""

    item: str
    round: int
    mode: str
    running: bool
    settled: bool
    verdict: Verdict
    sentence: str
    stocked: int
    left: int
    sold: int
    orders: int
    oversold: int
    undersold: int
    duplicate_ids: int
    duplicate_keys: int
    sales_without_order: int
    orders_without_sale: int
    in_flight: int
    answers: dict[str, int]  # as the workers counted them: to look at, no evidence
    conflicts: int
    locks_lost: int
    # A field that is added has a default: runs are kept with the audits that they had.
    not_booked: int = 0  # dead letters, and what cannot be read in the stream
    held: int = 0
    units_astray: int = 0
    in_doubt: int = 0  # sales and holds that no replica confirms, with DURABILITY=replicated
    orders_lost: int = 0

    @property
    def broken(self) -> int:
        """How many sales and orders contradict each other."""
        twice = self.duplicate_ids + self.duplicate_keys
        return twice + self.orders_without_sale + self.units_astray

    def of_a_run(self) -> str:
        """The verdict on a run that is over, in words for a class; mostly a Text."""
        if self.verdict == Verdict.SETTLING:
            return Text(
                "No verdict: purchases or orders were still under way after half a minute. "
                "Sold so far: %(sold)s of %(stocked)s.",
                sold=self.sold,
                stocked=self.stocked,
            )
        if self.verdict == Verdict.UNTOUCHED:
            return Text(
                "Sold 0 of %(stocked)s: no purchase ever reached the shop.", stocked=self.stocked
            )
        taken = self.sold + self.held
        lacks = self.not_booked or self.orders_lost
        contradicts = self.broken or lacks or taken + self.left > self.stocked
        if self.verdict == Verdict.INCONSISTENT and not contradicts:
            return self.sentence  # the sentence says what the store had lost
        return sentence(replace(self, answers={}, in_doubt=0))

    def downgraded(self, lost: Text) -> Audit:
        """Downgrade the verdict: the store lost data, so "exact" cannot be trusted.

        `lost` says what was lost. Any other verdict stays, and its sentence is extended by `lost`.
        """
        if self.verdict in HARMLESS:
            return replace(self, verdict=Verdict.INCONSISTENT, sentence=lost)
        return replace(self, sentence=together(self.sentence, lost))


def sentence(audit: Audit) -> Text:
    """Return the verdict in words for a class.

    BUSY answers while stock remains are no undersell; the sentence names them.
    """
    stocked, sold, left, held = audit.stocked, audit.sold, audit.left, audit.held
    busy = audit.answers.get(Outcome.BUSY, 0)
    units = {"stocked": stocked, "sold": sold, "left": left, "held": held}
    match audit.verdict:
        case Verdict.UNTOUCHED:
            return counted(
                "No purchase has been tried yet: %(num)s unit is there.",
                "No purchase has been tried yet: all %(num)s units are there.",
                stocked,
            )
        case Verdict.SETTLING if audit.in_doubt:
            return counted(
                "Settling: %(sold)s of %(stocked)s sold so far. No replica confirms %(num)s sale: "
                "in doubt.",
                "Settling: %(sold)s of %(stocked)s sold so far. No replica confirms %(num)s "
                "sales: in doubt.",
                audit.in_doubt,
                **units,
            )
        case Verdict.SETTLING:
            return Text(
                "Settling: %(sold)s of %(stocked)s sold so far, and purchases are under way.",
                **units,
            )
        case Verdict.OVERSOLD if held:
            return counted(
                "Sold %(sold)s of %(stocked)s and %(held)s held. %(num)s customer will be "
                "disappointed.",
                "Sold %(sold)s of %(stocked)s and %(held)s held. %(num)s customers will be "
                "disappointed.",
                sold + held - stocked,
                **units,
            )
        case Verdict.OVERSOLD:
            return counted(
                "Sold %(sold)s of %(stocked)s. %(num)s customer will be disappointed.",
                "Sold %(sold)s of %(stocked)s. %(num)s customers will be disappointed.",
                sold - stocked,
                **units,
            )
        case Verdict.UNDERSOLD if held:
            return counted(
                "Sold %(sold)s of %(stocked)s, %(held)s held, %(left)s left: %(num)s unit is "
                "missing.",
                "Sold %(sold)s of %(stocked)s, %(held)s held, %(left)s left: %(num)s units are "
                "missing.",
                stocked - left - held - sold,
                **units,
            )
        case Verdict.UNDERSOLD:
            return counted(
                "Sold %(sold)s of %(stocked)s, %(left)s left: %(num)s unit is missing.",
                "Sold %(sold)s of %(stocked)s, %(left)s left: %(num)s units are missing.",
                stocked - left - sold,
                **units,
            )
        case Verdict.INCONSISTENT if audit.orders_lost:
            return counted(
                "Sold %(sold)s of %(stocked)s, %(left)s left, and the database has lost %(num)s "
                "order.",
                "Sold %(sold)s of %(stocked)s, %(left)s left, and the database has lost %(num)s "
                "orders.",
                audit.orders_lost,
                **units,
            )
        case Verdict.INCONSISTENT if audit.not_booked:
            return counted(
                "Sold %(sold)s of %(stocked)s, %(left)s left, and %(num)s sale is not booked.",
                "Sold %(sold)s of %(stocked)s, %(left)s left, and %(num)s sales are not booked.",
                audit.not_booked,
                **units,
            )
        case Verdict.INCONSISTENT if held and sold + held + left > stocked:
            return Text(
                "Sold %(sold)s of %(stocked)s, %(held)s held and still %(left)s left: %(twice)s "
                "more than there were. Lost updates; the oversell comes when the rest is sold.",
                **units,
                twice=sold + held + left - stocked,
            )
        case Verdict.INCONSISTENT if sold + left > stocked:
            return Text(
                "Sold %(sold)s of %(stocked)s and still %(left)s left: %(twice)s more than there "
                "were. Lost updates; the oversell comes when the rest is sold.",
                **units,
                twice=sold + left - stocked,
            )
        case Verdict.INCONSISTENT:
            return Text(
                "Sold %(sold)s of %(stocked)s, but %(broken)s sales do not add up.",
                **units,
                broken=audit.broken,
            )
        case Verdict.EXACT if held:
            return Text(
                "Sold %(sold)s of %(stocked)s, %(held)s held, %(left)s left: every unit accounted "
                "for.",
                **units,
            )
        case Verdict.EXACT if left and busy:
            return counted(
                "Sold %(sold)s of %(stocked)s, %(left)s left: every unit accounted for. "
                "%(num)s time a customer was turned away as BUSY.",
                "Sold %(sold)s of %(stocked)s, %(left)s left: every unit accounted for. "
                "%(num)s times a customer was turned away as BUSY.",
                busy,
                **units,
            )
        case Verdict.EXACT:
            return Text(
                "Sold %(sold)s of %(stocked)s, %(left)s left: every unit accounted for.",
                **units,
            )


class Figure(NamedTuple):
    field: str  # of an Audit
    called: Text
    means: Text


COUNTED = (
    Figure("stocked", Text("Stocked"), Text("units the round began with, from its record")),
    Figure("left", Text("Left"), Text("units still for sale, from the stock itself")),
    Figure("held", Text("Held"), Text("units taken and not paid for yet, or not put back yet")),
    Figure("sold", Text("Sold"), Text("units in all sales, each order counted once")),
    Figure("orders", Text("Orders"), Text("rows in the database")),
    Figure("in_flight", Text("In flight"), Text("purchases begun and not answered yet")),
)
SHOULD_BE_0 = (
    Figure("oversold", Text("Oversold"), Text("units sold beyond the stock")),
    Figure("undersold", Text("Undersold"), Text("missing units: neither left nor sold")),
    Figure("duplicate_ids", Text("Duplicate ids"), Text("orders found more than once")),
    Figure(
        "duplicate_keys",
        Text("Duplicate keys"),
        Text("purchases sold twice under one idempotency key"),
    ),
    Figure(
        "sales_without_order",
        Text("Sales without an order"),
        Text("sold, and not in the database"),
    ),
    Figure(
        "orders_without_sale",
        Text("Orders without a sale"),
        Text("in the database, and never sold"),
    ),
    Figure(
        "orders_lost",
        Text("Orders lost"),
        Text("confirmed by the database, and not in it any more"),
    ),
    Figure(
        "units_astray",
        Text("Units astray"),
        Text("kept as rows, and not whose the orders say they are"),
    ),
    Figure(
        "not_booked",
        Text("Not booked"),
        Text("sales that the database refused, or that cannot be read"),
    ),
    Figure("in_doubt", Text("In doubt"), Text("sales and holds that no replica confirms")),
)
WHAT_IT_TOOK = (
    Figure("conflicts", Text("Conflicts"), Text("writes that another client’s write aborted")),
    Figure(
        "locks_lost",
        Text("Locks lost"),
        Text("releases that found the lock was no longer theirs"),
    ),
)
