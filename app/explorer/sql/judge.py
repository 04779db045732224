"""What an order came to: what the buyers were told, and what is left in the database."""

from __future__ import annotations

from badluck.findings.rule import OfState, Told, View

from app.explorer.book import Book
from app.explorer.findings import RULES
from app.explorer.targets import Target


def wrong(book: Book, told: dict[str, str], target: Target) -> list[str]:
    """Names of FINDINGS that are the case when all is over; `told` is each buyer's outcome."""
    end = View(target, book, Told(tuple(told.items()), inside=0, over=True))
    return [rule.name for rule in RULES if isinstance(rule, OfState) and rule.wrong(end)]
