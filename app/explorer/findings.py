"""Findings in a shop, named as a teacher would name them: a table of rules."""

from __future__ import annotations

from dataclasses import replace

from badluck.findings import inferred_lock_rules
from badluck.findings.endless_wait import STARVED, STUCK
from badluck.findings.exception_rule import MISTAKE
from badluck.findings.lock_rules import (
    DELETED_BY_ANOTHER,
    LEAKED,
    LEFT_BEHIND,
    RENEWED_BY_ANOTHER,
    STALLED,
    TWO_HOLDERS,
)
from badluck.rule import Ending, EndRule, Rule, StateRule, View


def _orders(view: View) -> set[str]:
    return {sale.id for sale in view.book.sales}


def bought(view: View) -> set[str]:
    """Return the orders of buyers that got the answer that they have bought."""
    return {view.target.order(name).id for name, word in view.answers.words if word == "SOLD"}


def _sold(view: View) -> int:
    """Return the units of all orders that the store knows of."""
    return sum({sale.id: sale.quantity for sale in view.book.sales}.values())


def _units(view: View) -> int:
    """Return the units that are promised to a buyer: in an answer, or by an order in the book."""
    units = dict.fromkeys(bought(view), view.target.quantity)
    units |= {sale.id: sale.quantity for sale in view.book.sales}
    return sum(units.values())


def _oversell(view: View) -> bool:
    return bool(_units(view) > view.target.stock)


def _above_limit(view: View) -> bool:
    return bool(_units(view) > view.target.per_buyer)


def _sold_twice(view: View) -> bool:
    return len(_orders(view)) < len(view.book.sales)


def _negative_stock(view: View) -> bool:
    return view.answers.over and view.book.left < 0


def _unit_lost(view: View) -> bool:
    return view.answers.over and view.target.stock - max(0, view.book.left) - _sold(view) > 0


def _undersell(view: View) -> bool:
    sold_out = any(word == "SOLD_OUT" for _, word in view.answers.words)
    return view.answers.over and sold_out and view.book.left >= view.target.quantity


def _order_lost(view: View) -> bool:
    return bool(bought(view) - _orders(view))


def _phantom_order(view: View) -> bool:
    orders = _orders(view)
    return any(
        word != "SOLD" and view.target.order(name).id in orders for name, word in view.answers.words
    )


def _no_sale(end: Ending) -> bool:
    target, book, answers = end.view
    nothing = not book.sales and all(word != "SOLD" for _, word in answers.words)
    return bool(answers.words) and nothing and book.left >= target.quantity and end.calm


def _of_buyers(rule: Rule) -> Rule:
    """Return badluck's rule with the shop's word for an actor."""
    words = rule.explanation.replace("An actor", "A buyer").replace("actor", "buyer")
    return replace(rule, explanation=words)


# The gravest first: the verdict names it.
RULES: tuple[Rule, ...] = (
    StateRule(
        "oversell",
        "More units were sold than were in stock: some buyers will get nothing.",
        _oversell,
    ),
    StateRule(
        "sold twice",
        "One order was recorded as two sales: its buyer pays twice.",
        _sold_twice,
    ),
    StateRule(
        "negative stock",
        "At the end the stock is below zero.",
        _negative_stock,
    ),
    StateRule(
        "unit lost",
        "A unit is neither in stock nor sold: no buyer can get it any more.",
        _unit_lost,
    ),
    _of_buyers(STUCK),
    StateRule(
        "undersell",
        "A buyer was told “sold out”, but at the end there is enough stock.",
        _undersell,
    ),
    StateRule(
        "order lost",
        "A buyer was told that the purchase succeeded, but the store has no record of it.",
        _order_lost,
    ),
    StateRule(
        "phantom order",
        "A buyer was told that the purchase failed, but the order was recorded.",
        _phantom_order,
    ),
    EndRule(
        "no sale",
        "No buyer bought anything, although there was enough stock, and a buyer that met no "
        "fault was still there.",
        _no_sale,
    ),
    *map(_of_buyers, (TWO_HOLDERS, DELETED_BY_ANOTHER, RENEWED_BY_ANOTHER)),
    *map(_of_buyers, (STALLED, LEFT_BEHIND, LEAKED)),
    replace(
        STARVED,
        explanation="The others buy again and again while one buyer never gets a turn.",
    ),
)
# For a round with a limit, in which all the explorer's buyers are one person.
ABOVE_LIMIT = StateRule(
    "above the limit",
    "One buyer was sold more units than one may have.",
    _above_limit,
)
# For the user's own file: its sell() may also return no answer, or raise an exception.
NOTHING = "NOTHING"


_SHOPS = {rule.name: rule for rule in RULES}


def _no_answer(view: View) -> bool:
    orders = _orders(view)
    sold_out = (name for name, word in view.answers.words if word == NOTHING)
    return any(view.target.order(name).id in orders for name in sold_out)


OWN_RULES: tuple[Rule, ...] = (
    StateRule(
        "no answer",
        "sell() recorded a sale and came to its end without a return: it must answer True.",
        _no_answer,
    ),
    *(_SHOPS[name] for name in ("oversell", "sold twice")),
    MISTAKE,
    *(_SHOPS[name] for name in ("order lost", "negative stock", "unit lost")),
    *(_SHOPS[name] for name in (STUCK.name, "undersell", "phantom order", "no sale")),
    *map(_of_buyers, (inferred_lock_rules.TWO_HOLDERS, inferred_lock_rules.DELETED_BY_ANOTHER)),
    *map(_of_buyers, (inferred_lock_rules.LEFT_BEHIND, inferred_lock_rules.LEAKED)),
)
FINDINGS = {rule.name: rule.explanation for rule in RULES}
