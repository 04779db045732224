"""What an audit can find, and the words for it."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

from app.text import Text, counted


class Verdict(StrEnum):
    """Of a round; exact is the only good one."""

    UNTOUCHED = "untouched"  # on sale, and nobody has tried to buy: nothing could be right yet
    SETTLING = "settling"  # sales are under way: nothing can be said yet
    EXACT = "exact"  # every unit is sold once, held or still there
    OVERSOLD = "oversold"
    UNDERSOLD = "undersold"  # units that nobody has
    INCONSISTENT = "inconsistent"  # the numbers add up, the orders do not


def sentence(
    verdict: Verdict,
    stocked: int,
    sold: int,
    left: int,
    broken: int,
    busy: int = 0,
    not_booked: int = 0,
    held: int = 0,
    in_doubt: int = 0,
    orders_lost: int = 0,
) -> Text:
    """The verdict as one would say it to a class.

    BUSY answers while stock remains are no undersell, and are told apart from it.
    """
    match verdict:
        case Verdict.UNTOUCHED:
            return counted(
                "Nobody has tried to buy yet: %(num)s unit is there.",
                "Nobody has tried to buy yet: all %(num)s units are there.",
                stocked,
            )
        case Verdict.SETTLING if in_doubt:
            return counted(
                "Settling: %(sold)s of %(stocked)s sold so far. No replica confirms %(num)s sale: "
                "in doubt.",
                "Settling: %(sold)s of %(stocked)s sold so far. No replica confirms %(num)s "
                "sales: in doubt.",
                in_doubt,
                sold=sold,
                stocked=stocked,
            )
        case Verdict.SETTLING:
            return Text(
                "Settling: %(sold)s of %(stocked)s sold so far, and purchases are under way.",
                sold=sold,
                stocked=stocked,
            )
        case Verdict.OVERSOLD if held:
            return counted(
                "Sold %(sold)s of %(stocked)s and %(held)s held. %(num)s customer will be "
                "disappointed.",
                "Sold %(sold)s of %(stocked)s and %(held)s held. %(num)s customers will be "
                "disappointed.",
                sold + held - stocked,
                sold=sold,
                stocked=stocked,
                held=held,
            )
        case Verdict.OVERSOLD:
            return counted(
                "Sold %(sold)s of %(stocked)s. %(num)s customer will be disappointed.",
                "Sold %(sold)s of %(stocked)s. %(num)s customers will be disappointed.",
                sold - stocked,
                sold=sold,
                stocked=stocked,
            )
        case Verdict.UNDERSOLD if held:
            return counted(
                "Sold %(sold)s of %(stocked)s, %(held)s held, %(left)s left: %(num)s unit belongs "
                "to nobody.",
                "Sold %(sold)s of %(stocked)s, %(held)s held, %(left)s left: %(num)s units belong "
                "to nobody.",
                stocked - left - held - sold,
                sold=sold,
                stocked=stocked,
                held=held,
                left=left,
            )
        case Verdict.UNDERSOLD:
            return counted(
                "Sold %(sold)s of %(stocked)s, %(left)s left: %(num)s unit belongs to nobody.",
                "Sold %(sold)s of %(stocked)s, %(left)s left: %(num)s units belong to nobody.",
                stocked - left - sold,
                sold=sold,
                stocked=stocked,
                left=left,
            )
        case Verdict.INCONSISTENT if orders_lost:
            return counted(
                "Sold %(sold)s of %(stocked)s, %(left)s left, and the database has lost %(num)s "
                "order.",
                "Sold %(sold)s of %(stocked)s, %(left)s left, and the database has lost %(num)s "
                "orders.",
                orders_lost,
                sold=sold,
                stocked=stocked,
                left=left,
            )
        case Verdict.INCONSISTENT if not_booked:
            return counted(
                "Sold %(sold)s of %(stocked)s, %(left)s left, and %(num)s sale is not booked.",
                "Sold %(sold)s of %(stocked)s, %(left)s left, and %(num)s sales are not booked.",
                not_booked,
                sold=sold,
                stocked=stocked,
                left=left,
            )
        case Verdict.INCONSISTENT if held and sold + held + left > stocked:
            return Text(
                "Sold %(sold)s of %(stocked)s, %(held)s held and still %(left)s left: %(twice)s "
                "more than there were. Lost updates; the oversell comes when the rest is sold.",
                sold=sold,
                stocked=stocked,
                held=held,
                left=left,
                twice=sold + held + left - stocked,
            )
        case Verdict.INCONSISTENT if sold + left > stocked:
            return Text(
                "Sold %(sold)s of %(stocked)s and still %(left)s left: %(twice)s more than there "
                "were. Lost updates; the oversell comes when the rest is sold.",
                sold=sold,
                stocked=stocked,
                left=left,
                twice=sold + left - stocked,
            )
        case Verdict.INCONSISTENT:
            return Text(
                "Sold %(sold)s of %(stocked)s, but %(broken)s sales do not add up.",
                sold=sold,
                stocked=stocked,
                broken=broken,
            )
        case Verdict.EXACT if held:
            return Text(
                "Sold %(sold)s of %(stocked)s, %(held)s held, %(left)s left: every unit accounted "
                "for.",
                sold=sold,
                stocked=stocked,
                held=held,
                left=left,
            )
        case Verdict.EXACT if left and busy:
            return counted(
                "Sold %(sold)s of %(stocked)s, %(left)s left: every unit accounted for. "
                "%(num)s time a customer was turned away as BUSY.",
                "Sold %(sold)s of %(stocked)s, %(left)s left: every unit accounted for. "
                "%(num)s times a customer was turned away as BUSY.",
                busy,
                sold=sold,
                stocked=stocked,
                left=left,
            )
        case Verdict.EXACT:
            return Text(
                "Sold %(sold)s of %(stocked)s, %(left)s left: every unit accounted for.",
                sold=sold,
                stocked=stocked,
                left=left,
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
    Figure("undersold", Text("Undersold"), Text("units that nobody has: neither left nor sold")),
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
        Text("sales that the database refused, or nobody can read"),
    ),
    Figure("in_doubt", Text("In doubt"), Text("sales and holds that no replica confirms")),
)
WHAT_IT_TOOK = (
    Figure("conflicts", Text("Conflicts"), Text("writes that somebody else’s write aborted")),
    Figure(
        "locks_lost",
        Text("Locks lost"),
        Text("releases that found the lock was no longer theirs"),
    ),
)
