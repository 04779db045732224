"""What buyers do, what they are told, and what is broken meanwhile: the words of a history."""

from __future__ import annotations

from enum import StrEnum


class Deed(StrEnum):
    """What a buyer does. A purchase goes by its key; the others by the key of the purchase, too."""

    BUY = "buy"  # in a round with holds it makes a hold, else an order
    PAY = "pay"
    DECLINE = "decline"  # the payment page says no
    CANCEL = "cancel"  # the buyer gives the hold back
    LOOK = "look"  # with a key: at this purchase's own page; without one: at the shelf


class Answer(StrEnum):
    """What the buyer was told, whichever status and page said it."""

    SOLD = "SOLD"  # it is an order, now or from before; `order`, and `left` if this press sold it
    HELD = "HELD"  # it is a hold, now or from before; `order`, and `left` if this press made it
    SOLD_OUT = "SOLD_OUT"  # fewer than asked for: `left`
    BUSY = "BUSY"  # this press did nothing
    LIMIT = "LIMIT"  # this buyer would have more than a buyer may have in this round
    EXPIRED = "EXPIRED"  # the hold under this key has run out
    GIVEN_BACK = "GIVEN_BACK"  # the hold was declined or cancelled, now or before
    SHELF = "SHELF"  # a look at the shelf: `left`, which may be a moment old
    REFUSED = "REFUSED"  # any other 4xx: this press did nothing (not on sale, no such order …)
    UNKNOWN = "UNKNOWN"  # time-out, reset, 5xx but BUSY: it may have happened, or yet happen


class Kind(StrEnum):
    """What was done to a part of the shop."""

    KILL = "kill"  # SIGKILL
    FREEZE = "freeze"  # SIGSTOP, longer than every lease
    SWALLOW = "swallow"  # the reply is lost
    DELAY = "delay"
    CUT = "cut"  # the connection is reset
    HALF_OPEN = "half_open"  # the connection stands, and nothing comes through
    FAILOVER = "failover"  # to a replica that has not heard of the last writes
    DISK_FULL = "disk_full"
    CLOCK = "clock"  # a worker's clock is stepped by hours
    LOG_CUT = "log_cut"  # the store's log ends with its last sync
    SWITCH = "switch"  # to another round or mode while buyers buy


class Where(StrEnum):
    WORKER = "worker"
    FULFIL = "fulfil"
    STORE = "store"
    REPLICA = "replica"
    DATABASE = "database"
    SHOP = "shop"  # all of its workers


class Book(StrEnum):
    DATABASE = "database"  # a row of the orders' table
    STORE = "store"  # a sale that the store has, in its stream, under its key or as a dead letter
