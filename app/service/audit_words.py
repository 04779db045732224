"""What each figure of an audit is called and what it means, for the lab's page and the terminal."""

from __future__ import annotations

from typing import NamedTuple

from app.text import Text


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
