"""All key names in one place.

All keys of an item share its hash tag, so that on a cluster they are in one slot and one MULTI or
script can touch them together. Keys of a round contain its number, so that a worker that missed the
switch can never touch the next round.
"""

from __future__ import annotations

from collections.abc import Callable

from app.domain import Order, Round, Stands


class Keys:
    """Names of the keys of one round of one item."""

    def __init__(self, item: str, number: int) -> None:
        self.item = item
        self.number = number
        prefix = f"{{{item}}}:{number}"
        self.stock = f"{prefix}:stock"  # string: units left
        self.ended = f"{prefix}:stock:ended"  # what `stock` is renamed to when the round ends
        self.sales = f"{prefix}:sales"  # stream: one entry a sale, until it is in the database
        self.lock = f"{prefix}:lock"  # string: the lock's owner token
        self.fence = f"{prefix}:stock:fence"  # string: the highest fencing token shown
        self.record = f"{prefix}:round"  # string: the Round, as JSON
        self.workers = f"{prefix}:workers"  # hash: worker -> when, and what it is doing, as JSON
        self.handed_over = f"{prefix}:handed_over"  # string: 1 when the store knows its SQL keys
        self.readings = f"{prefix}:readings"  # string: how often an audit began or ended reading
        self.mended = f"{prefix}:mended"  # string: what a repair has restored, as JSON; for good
        self.lacks = f"{prefix}:lacks"  # string: what it was found to have lost, as JSON; for good
        self.holds = f"{prefix}:holds"  # stream: what modes took to be paid for, until it is in:
        self.held = f"{prefix}:held"  # hash: order's id -> its sale, neither left nor paid for
        self.due = f"{prefix}:held:due"  # sorted set: order's id, by when to look at it again

    @classmethod
    def of(cls, round: Round) -> Keys:
        """Return the names for the round's mode, which writes sales or, with holds, holds."""
        keys = cls(round.item, round.number)
        if round.hold:
            keys.sales = keys.holds
        return keys

    def bought(self, buyer: str) -> str:
        """String: units that a buyer has in the round, where it has a limit (see RoundSales)."""
        return f"{{{self.item}}}:{self.number}:bought:{buyer}"

    def order(self, id: str) -> str:
        """String: a sale by its id, until it is in the database."""
        return order(self.item, id)

    def key(self, key: str) -> str:
        """String: the sale made under an idempotency key; a day longer than the order's."""
        return f"{{{self.item}}}:key:{key}"

    def hold(self, id: str) -> str:
        """String: how a hold has ended and its deadline, "EXPIRED 1790000000000"; for a day."""
        return f"{{{self.item}}}:hold:{id}"

    def claim(self, key: str) -> str:
        """String: a lock on an idempotency key, for a mode whose sale is more than one step."""
        return f"{{{self.item}}}:claim:{key}"

    def copies(self, order: Order) -> dict[str, bytes]:
        """Return what a mode sets next to the stream's entry: the sale by its id and by its key."""
        sale = order.encode()
        return {self.order(order.id): sale, self.key(order.key): sale}


def _named(suffix: str) -> Callable[[str], str]:
    """Return the function that names this key of an item."""
    return lambda item: f"{{{item}}}:{suffix}"


newest = _named("round")  # string: number of the item's newest round
# String: which store this is, as far as the item is concerned; written once.
identity = _named("store")
database = _named("database")  # string: identity of the database that the item's sales belong to
# Hash: number of a round -> how many of its orders the database has confirmed.
booked = _named("booked")
# String: what the store has lost of the item, as JSON, until a person accepts or repairs it.
lacks = _named("lacks")
# Hash: order's id -> a sale that a worker knew of when the store had lost something.
witnessed = _named("lacks:told")
# String: number of the round up to which it is accepted that something is lost.
accepted = _named("lacks:accepted")
streams = _named("streams")  # set: numbers of the rounds whose stream may still receive sales
probe = _named("probe")  # string: written for a second to see that the item's node takes writes
copied = _named("copied")  # string: written before a replica is asked how far it has come
# Stream: the sales of all its rounds that cannot be booked, each with the reason.
dead_letters = _named("dead")
# Hash: number of a round -> how many of its dead letters were dropped for good.
dropped = _named("dead:dropped")

# The class on the item, in the lab.
# String: when the class began, in ms since 1970; phones that joined before are of an earlier one.
class_began = _named("class:began")
class_roll = _named("class:roll")  # hash: a worker of the shop -> the phones that it hears, as JSON
class_hidden = _named("class:hidden")  # set of the phones whose nicknames are kept off the screens
class_sale = _named("class:sale")  # string: number of the round that is the class's newest sale
# String: token of the instructor who is starting a sale at this moment.
class_start = _named("class:start")
# String: how the class's last sale has ended, for its phones, as JSON.
class_ending = _named("class:ending")

# Runs on the item.
# String: id of the run (or comparison) that is on, for as long as its process renews it.
heartbeat = _named("run")
newest_run = _named("run:newest")  # string: id of the item's newest run, on or over


def order(item: str, id: str) -> str:
    return f"{{{item}}}:order:{id}"


def ended(id: str, stands: Stands) -> str:
    """Return the field of `witnessed`, in place of the id, for a hold with a known end."""
    return f"{stands.lower()} {id}"


HOSTS = "hosts"  # hash: setting -> its value on the first host; of the secret a salted hash

COMPARISONS = "comparisons"  # in the place of an item's name; no item is called so


class RunKeys:
    """Names of the keys of one run of an item; they live for a day after the last write.

    A comparison has them, too, as if it were a run of an item called COMPARISONS.
    """

    def __init__(self, item: str, id: str) -> None:
        prefix = f"{{{item}}}:run:{id}"
        self.heartbeat = heartbeat(item)
        self.record = f"{prefix}:record"  # string: the Run as it began, as JSON
        self.ended = f"{prefix}:ended"  # string: the Run as it ended; written once
        self.events = f"{prefix}:events"  # stream: its samples and its end; ids are SSE's
        self.stop = f"{prefix}:stop"  # string: set by a request to end the run
