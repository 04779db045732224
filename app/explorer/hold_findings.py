"""Findings where buyers hold first and then pay, named as a teacher would name them."""

from __future__ import annotations

from badluck.rule import Ending, EndRule, Rule, StateRule, View

from app.explorer import findings

PAID = "PAID"


def _held(view: View) -> dict[str, int]:
    return {sale.id: sale.quantity for sale in view.book.held}


def _sold(view: View) -> dict[str, int]:
    return {sale.id: sale.quantity for sale in view.book.sales}


def _promised(view: View) -> int:
    """Return the units that a buyer has paid for, got a yes for, or may still pay for."""
    quantities = dict.fromkeys(findings.bought(view), view.target.quantity)
    over = {end.id for end in view.book.ends if end.stands != PAID}
    held = {id: units for id, units in _held(view).items() if id not in over}
    return sum((quantities | held | _sold(view)).values())


def _accounted(view: View) -> int:
    """Return the units left, held and sold. A unit in two places counts twice."""
    units = sum(_held(view).values()) + sum(_sold(view).values())
    return max(0, int(view.book.left)) + units


def _oversell(view: View) -> bool:
    return bool(_promised(view) > view.target.stock)


def _there_twice(view: View) -> bool:
    return view.answers.over and bool(_accounted(view) > view.target.stock)


def _lost(view: View) -> bool:
    return view.answers.over and bool(_accounted(view) < view.target.stock)


def _two_ends(view: View) -> bool:
    paid = _sold(view).keys() | findings.bought(view)
    over = {end.id for end in view.book.ends if end.stands != PAID}
    given_back = {view.target.held_by(name).id for name, word in view.answers.words if word in OVER}
    return bool(paid & (over | given_back))


OVER = ("CANCELLED", "EXPIRED", "DECLINED")


def _too_late(view: View) -> bool:
    deadlines = {end.id: end.deadline for end in view.book.ends}
    return any(at >= deadlines.get(id, at + 1) for id, at in view.book.paid_at)


def _for_ever(view: View) -> bool:
    return view.answers.over and bool(view.book.unseen)


def _error(end: Ending) -> bool:
    return end.undisturbed and any(word == "ERROR" for _, word in end.view.answers.words)


OVERSOLD = StateRule(
    "oversell",
    "Units sold and held are together more than were in stock: some buyers will get nothing.",
    _oversell,
)
TWO_ENDS = StateRule(
    "two ends",
    "One hold has ended in two ways: it is paid for, and its units were given back.",
    _two_ends,
)
TOO_LATE = StateRule(
    "paid too late",
    "A payment was accepted when its hold had run out.",
    _too_late,
)
THERE_TWICE = StateRule(
    "unit there twice",
    "At the end there are more units left, held and sold than were stocked: some came back twice.",
    _there_twice,
)
LOST = StateRule(
    "unit lost",
    "A unit is neither in stock nor held nor sold: no buyer can get it any more.",
    _lost,
)
FOR_EVER = StateRule(
    "held forever",
    "Units are held, and no sweep will find them: they never come back.",
    _for_ever,
)
ERROR = EndRule("error", "Without any fault a buyer was told of an error.", _error)
IN_PLACE = {rule.name: rule for rule in (OVERSOLD, LOST)}
# These are no fault here: units that are held are not on sale, and may come back later.
NO_MATTER = ("undersell", "no sale")


def _rules() -> tuple[Rule, ...]:
    """Return the rules, the gravest first."""
    usual = [IN_PLACE.get(rule.name, rule) for rule in findings.RULES]
    rest = [rule for rule in usual if rule.name not in NO_MATTER]
    return rest[0], TWO_ENDS, TOO_LATE, THERE_TWICE, *rest[1:4], FOR_EVER, *rest[4:], ERROR


RULES = _rules()
