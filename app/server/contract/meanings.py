"""The meanings of all types of problem, and what to do about each."""

from __future__ import annotations

from app.text import Text

MEANINGS: dict[str, Text] = {
    "sold-out": Text(
        "Fewer units are left than were asked for: `left` says how many. Nothing was sold."
    ),
    "limit": Text(
        "The buyer would have more units of the round than one buyer may: `bought` says how many "
        "it has, `per_buyer` how many that may be. Nothing was sold."
    ),
    "busy": Text(
        "Too many were buying for this purchase to get its turn. Nothing was sold: try again, with "
        "the same key."
    ),
    "too-often": Text(
        "This address asks to buy more often than it may. Nothing was looked at and nothing sold: "
        "try again after `Retry-After`, with the same key."
    ),
    "unknown-item": Text("No item of that name is in the catalogue."),
    "unknown-order": Text("No order of that id is in the store or the database."),
    "unknown-round": Text("The item never had such a round."),
    "unknown-way": Text("No mode or recipe of that name is in the catalogue."),
    "unknown-run": Text("No run of that id is in the store or the database."),
    "run-is-on": Text("A run of the item is on. Watch it, or stop it first."),
    "unknown-comparison": Text("No comparison of that id is in the store or the database."),
    "comparison-is-on": Text("A comparison is on, and nothing else may be measured meanwhile."),
    "stock-held": Text(
        "A purchase of the round before still holds its stock in the database. That round has "
        "ended, and the next one has not begun: start it again in a moment."
    ),
    "class-is-on": Text("The class's sale is under way: it counts down, or it sells."),
    "not-on-sale": Text("No round of the item is running."),
    "not-open": Text(
        "A round of the item runs, but does not sell yet: `opens_in_ms` says how long until then."
    ),
    "for-the-class": Text("A round of the item runs, but sells only to phones of the class."),
    "lacking": Text(
        "Store or database has lost something of the item. None of it is sold until a person mends "
        "or accepts that."
    ),
    "wrong-pair": Text(
        "Store and database do not belong together: nothing is sold until a person corrects a "
        "setting."
    ),
    "newer": Text("A newer version of Last Apple wrote this, and only that one can read it."),
    "unreadable": Text("What stands in the store or the database cannot be read."),
    "already-paid": Text("What was held is paid for: it is an order, and cannot be given back."),
    "hold-over": Text(
        "What was held is on sale again: declined, cancelled or expired, as `outcome` says. It "
        "cannot be paid for any more, and its key buys nothing."
    ),
    "not-booked": Text(
        "The order was sold and could not be booked. It was cancelled by hand. Its key buys "
        "nothing for a day."
    ),
    "key-reused": Text(
        "The key belongs to an order of another quantity, or of another buyer. Use a new one."
    ),
    "unknown-form": Text(
        "A form came without our cookie, and with a key that we did not issue: we cannot tell "
        "whose it is. Nothing was bought."
    ),
    "invalid": Text("A field has a value that it cannot have: `errors` has a sentence for each."),
    "cannot-sell": Text(
        "This server lacks what the round's mode needs; its `/readyz` says what. Nothing was sold: "
        "try again, with the same key. Another server of the shop may sell it."
    ),
    "store-away": Text(
        "The store does not answer. With `idempotency_key` or `order`, it may have happened all "
        "the same: see `in-doubt`."
    ),
    "database-away": Text(
        "The database does not answer. With `idempotency_key` or `order`, it may have happened all "
        "the same: see `in-doubt`."
    ),
    "in-doubt": Text(
        "It may have happened. With `idempotency_key`, ask again with that key: it never buys "
        "twice. With `order`, send the same again: it counts once."
    ),
    "wrong-database": Text("The database cannot keep what is sold; the log says what to do."),
}
# Problems without a type: more than their page says.
STATUSES: dict[int, Text] = {
    400: Text("The request is not what it says: no JSON, no form, or no known host."),
    403: Text("Another site's page has sent it."),
    404: Text("There is nothing at this address."),
}
