"""What an order came to: what the buyers were told, and what is left in the database."""

from __future__ import annotations

from collections.abc import Iterator

from app.explorer.targets import Book, Target


def wrong(book: Book, told: dict[str, str], target: Target) -> Iterator[str]:
    """Names of FINDINGS that are the case when all is over; `told` is each buyer's outcome."""
    sold = {sale.id: sale.quantity for sale in book.sales}
    bought = {target.order(name).id for name, word in told.items() if word == "SOLD"}
    promised = dict.fromkeys(bought, target.quantity) | sold
    if sum(promised.values()) > target.stock:
        yield "oversell"
    if len(sold) < len(book.sales):
        yield "sold twice"
    if book.left < 0:
        yield "negative stock"
    if target.stock - max(0, book.left) - sum(sold.values()) > 0:
        yield "unit lost"
    if "SOLD_OUT" in told.values() and book.left >= target.quantity:
        yield "undersell"
    if bought - sold.keys():
        yield "order lost"
    if any(word != "SOLD" and target.order(name).id in sold for name, word in told.items()):
        yield "phantom order"
