"""The words of the shop: what is sold, how it can end, what can go wrong. No I/O."""

from __future__ import annotations

import random
import secrets
import threading
import time
import weakref
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from enum import StrEnum

import orjson


class Outcome(StrEnum):
    """How one attempt to buy ended."""

    SOLD = "SOLD"
    SOLD_OUT = "SOLD_OUT"  # fewer units left than asked for
    BUSY = "BUSY"  # stock remained; attempts or patience ran out
    ERROR = "ERROR"  # the store did not answer
    ROUND_OVER = "ROUND_OVER"  # a mode's word to the service; no buyer ever sees it


@dataclass(frozen=True, slots=True)
class Item:
    """Something on the shelf. `price` in cents, `stock` in units at the very first opening."""

    slug: str
    name: str
    blurb: str
    price: int
    stock: int


ITEMS = {
    item.slug: item
    for item in (
        Item("apple", "Apple", "The last of the harvest, picked this morning.", 60, 100),
        Item("pear", "Pear", "Ripe for about a quarter of an hour. Be quick.", 75, 60),
        Item("plum", "Plum", "Small, dark and gone before you look twice.", 40, 80),
        Item("cherry", "Cherries", "A paper bag of them, stems and all.", 350, 40),
        Item("quince", "Quince", "Hard as a stone today, jelly tomorrow.", 120, 24),
        Item("fig", "Fig", "One tree, one wall, one warm week a year.", 90, 12),
    )
}


@dataclass(frozen=True, slots=True)
class Order:
    """A wish to buy, with its id made before attempt 1. It becomes durable when it is sold.

    `at` is the buyer's moment in ms since 1970; `price` is a unit's, in cents; `key` is the
    idempotency key, or the id itself when the client sent none.
    """

    id: str
    item: str
    round: int
    quantity: int
    price: int
    buyer: str
    key: str
    at: int

    def encode(self) -> bytes:
        """The sale as it stands in the store's stream and under its keys (JSON)."""
        return orjson.dumps(self)

    @classmethod
    def decode(cls, payload: bytes | str) -> Order:
        return cls(**orjson.loads(payload))


@dataclass(frozen=True, slots=True)
class Sale:
    """What a mode answers. `left` in units, None when the mode did not get to see the stock."""

    outcome: Outcome
    left: int | None = None
    order: Order | None = None  # set when SOLD; an earlier one when its key was seen before
    attempts: int = 1  # the first try is attempt 1
    conflicts: int = 0  # lost races: aborted EXECs, versions that had changed
    lock_lost: bool = False  # the release found the lock not mine any more


@dataclass(frozen=True, slots=True)
class Round:
    """One sale of one item: so much stock, one mode, one set of times. Times are in ms.

    `think` waits between read and write, `lease` is a lock's lifetime, `wait` is the buyer's
    patience, `attempts` caps retries, `limit` is the most units that one order may take.
    """

    item: str
    number: int
    stock: int
    mode: str  # "watch", "lock:lease"
    think: int = 0
    lease: int = 10_000
    wait: int = 5_000
    attempts: int = 64
    limit: int = 10
    started: int = 0  # ms since 1970
    ended: int | None = None

    @property
    def running(self) -> bool:
        return self.ended is None

    @property
    def recipe(self) -> str:
        """The lock recipe's name, "" for a mode without one."""
        return self.mode.partition(":")[2]

    def encode(self) -> bytes:
        return orjson.dumps(asdict(self))

    @classmethod
    def decode(cls, record: bytes | str) -> Round:
        return cls(**orjson.loads(record))


@dataclass(frozen=True, slots=True)
class Bound:
    low: int
    high: int
    unit: str


# What a round may be. The upper bounds keep a typing error from blocking a worker for hours.
ROUND_BOUNDS = {
    "stock": Bound(1, 1_000_000_000, "units"),
    "think": Bound(0, 60_000, "ms"),
    "lease": Bound(10, 600_000, "ms"),
    "wait": Bound(0, 60_000, "ms"),
    "attempts": Bound(1, 1_000, "attempts"),
    "limit": Bound(1, 10, "units"),
}


class Clock:
    """Time and chance as a mode sees them. The explorer hands in one of its own."""

    def now(self) -> float:
        """Seconds of a clock that never goes back."""
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        if seconds > 0:
            time.sleep(seconds)

    def random(self) -> float:
        """A number in [0, 1)."""
        return random.random()  # noqa: S311  jitter, not secrets

    def wall(self) -> float:
        """Seconds since 1970, as this machine believes. May jump; others disagree."""
        return time.time()

    def token(self) -> str:
        """A name that nobody else has (128 random bits, in hex)."""
        return secrets.token_hex(16)

    def every(self, seconds: float, deed: Callable[[], bool]) -> Callable[[], None]:
        """Call the method `deed` each `seconds` in a thread of its own; returns what stops that.

        A renewal must not outlive the work: it also stops when `deed` answers False, when the
        thread that asked for it has ended, and when nobody holds the method's object any more.
        """
        stopped = threading.Event()
        worker = threading.current_thread()
        method = weakref.WeakMethod(deed)

        def once() -> bool:
            known = method()
            return known is not None and known()

        def go_on() -> None:
            while not stopped.wait(seconds) and worker.is_alive() and once():
                pass

        threading.Thread(target=go_on, name="every", daemon=True).start()
        return stopped.set


class ShopError(Exception):
    """Something the buyer or the instructor should be told in words."""


class UnknownItem(ShopError):
    """No item of that name is in the catalogue."""


class UnknownOrder(ShopError):
    """No order of that id is in the store or the database."""


class UnknownRound(ShopError):
    """That item never had such a round."""


class NotOnSale(ShopError):
    """No round of the item is running."""


class KeyReused(ShopError):
    """The idempotency key belongs to an order with another body."""


class StoreAway(ShopError):
    """The store (Redis, Valkey) does not answer. Whether the last command ran is unknown."""


class DatabaseAway(ShopError):
    """The database does not answer."""


class LockLost(ShopError):
    """The critical section ended, and its lock had gone to nobody or to somebody else."""


@dataclass
class Invalid(ShopError):
    """What was sent cannot be meant. `errors` maps each field to a sentence."""

    errors: dict[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        return " ".join(self.errors.values())
