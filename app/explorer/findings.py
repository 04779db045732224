"""What can go wrong in a shop, by the names that a teacher would use: a table of rules."""

from __future__ import annotations

from dataclasses import replace

from badluck.findings.for_ever import STARVED, STUCK
from badluck.findings.locks import (
    DELETED_BY_ANOTHER,
    LEAKED,
    LEFT_BEHIND,
    RENEWED_BY_ANOTHER,
    STALLED,
    TWO_HOLDERS,
)
from badluck.findings.rule import Ending, OfEnd, OfState, Rule, View


def _orders(view: View) -> set[str]:
    return {sale.id for sale in view.book.sales}


def _bought(view: View) -> set[str]:
    """Orders of buyers who were told that they have bought."""
    return {view.target.order(name).id for name, word in view.told.words if word == "SOLD"}


def _sold(view: View) -> int:
    """Units of all orders that the store knows of."""
    return sum({sale.id: sale.quantity for sale in view.book.sales}.values())


def _oversell(view: View) -> bool:
    units = dict.fromkeys(_bought(view), view.target.quantity)
    units |= {sale.id: sale.quantity for sale in view.book.sales}
    return bool(sum(units.values()) > view.target.stock)


def _sold_twice(view: View) -> bool:
    return len(_orders(view)) < len(view.book.sales)


def _negative_stock(view: View) -> bool:
    return view.told.over and view.book.left < 0


def _unit_lost(view: View) -> bool:
    return view.told.over and view.target.stock - max(0, view.book.left) - _sold(view) > 0


def _undersell(view: View) -> bool:
    sold_out = any(word == "SOLD_OUT" for _, word in view.told.words)
    return view.told.over and sold_out and view.book.left >= view.target.quantity


def _order_lost(view: View) -> bool:
    return bool(_bought(view) - _orders(view))


def _phantom_order(view: View) -> bool:
    orders = _orders(view)
    return any(
        word != "SOLD" and view.target.order(name).id in orders for name, word in view.told.words
    )


def _no_sale(end: Ending) -> bool:
    target, book, told = end.view
    nothing = not book.sales and all(word != "SOLD" for _, word in told.words)
    return bool(told.words) and nothing and book.left >= target.quantity and end.calm


# The gravest first: it is what a verdict speaks of.
RULES: tuple[Rule, ...] = (
    OfState(
        "oversell",
        "More units are promised than there were: somebody will be disappointed.",
        _oversell,
    ),
    OfState(
        "sold twice",
        "One order was sold two times: its buyer pays for units that he never wanted.",
        _sold_twice,
    ),
    OfState(
        "negative stock",
        "When all is over the shelf holds less than nothing, and stays so.",
        _negative_stock,
    ),
    OfState(
        "unit lost",
        "A unit is neither on the shelf nor sold: nobody will ever have it.",
        _unit_lost,
    ),
    STUCK,
    OfState(
        "undersell",
        "A buyer was told that it is sold out, and in the end a unit is left.",
        _undersell,
    ),
    OfState(
        "order lost",
        "A buyer was told that he has bought, and the store knows nothing of it.",
        _order_lost,
    ),
    OfState(
        "phantom order",
        "A buyer was told that it went wrong, and his order stands all the same.",
        _phantom_order,
    ),
    OfEnd(
        "no sale",
        "Nobody bought, though there was enough, and nothing went wrong for who was left.",
        _no_sale,
    ),
    replace(TWO_HOLDERS, explanation="Two buyers are inside of the critical section at once."),
    replace(DELETED_BY_ANOTHER, explanation="A buyer removed a lock that was somebody else's."),
    replace(RENEWED_BY_ANOTHER, explanation="A buyer prolonged a lock that was somebody else's."),
    STALLED,
    LEFT_BEHIND,
    LEAKED,
    replace(
        STARVED,
        explanation="Others buy again and again, and one never does: "
        "he asks for ever, or gives up.",
    ),
)
FINDINGS = {rule.name: rule.explanation for rule in RULES}
