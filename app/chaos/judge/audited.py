"""The audit held against the books, and against what stands in store and database."""

from __future__ import annotations

from collections.abc import Iterator

from app.chaos.judge.stock import nobodys, units_by_id
from app.chaos.judge.story import Sold
from app.chaos.judge.wrong import Finding, Wrong

EXACT = ("exact", "untouched")  # words of the audit
UNITS = {Wrong.OVERSOLD, Wrong.STRANDED, Wrong.SURPLUS, Wrong.UNBOOKED}


def misjudged(of: Sold, found: list[Finding], excused: bool) -> Iterator[Finding]:
    """`found` is all that is wrong with the round, `excused`: something may be, after its faults.

    Then the audit may have seen what nobody else does, and is taken at its figures only.
    """
    said = of.audited
    if said is None or not said.settled:
        return
    sold = sum(units_by_id(of, of.purchases).values())
    figures = [("sold", said.sold, sold, "the books")]
    if said.found_left is not None:
        figures.append(("left", said.left, said.found_left, "the stock"))
    if said.found_held is not None:
        figures.append(("held", said.held, said.found_held, "the holds"))
    for what, its, ours, where in figures:
        if its != ours:
            sentence = f"The audit says that {its} units are {what}; {where}, {ours}."
            yield Finding(Wrong.MISJUDGED, *of.name, abs(its - ours), sentence)
            return
    if _contradicts(of, found, excused, sold):
        yield Finding(Wrong.MISJUDGED, *of.name, 1, f"The audit says {said.verdict}.")


def _contradicts(of: Sold, found: list[Finding], excused: bool, sold: int) -> bool:
    """Is the audit's word another than the figures'?"""
    said = of.audited
    word = said.verdict.lower() if said else ""
    if word in EXACT:
        return any(one.wrong in UNITS for one in found)
    if said is None or said.found_left is None or said.found_held is None:
        return False
    if word == "oversold":
        return sold + of.held <= of.begun.stock
    if word == "undersold":
        return nobodys(of) <= 0
    # It may be so for what cannot be counted here: what the store has lost, sales that contradict.
    sound = not found and not nobodys(of) and not excused and not said.marked
    return word == "inconsistent" and sound
