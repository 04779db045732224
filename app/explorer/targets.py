"""The targets of the explorer: a mode with its recipe, set up as in the shop."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from badluck.actor.actor import Actor, Code
from badluck.actor.shared_process_patches import sharing
from badluck.model.values import Command, Entry, Stream
from badluck.report.saved_traces import Columns
from badluck.rule import Rule
from badluck.target import EPOCH, Shown, StoredLock, Vocabulary

from app.domain import Invalid, Order, Outcome, Round, ShopError
from app.domain.selling import WayName
from app.explorer import vocabulary
from app.explorer.book import COLUMNS, Book, Sold, shelf
from app.explorer.findings import ABOVE_LIMIT, RULES
from app.explorer.servers import MASTERS, GateServers
from app.locks import LOCKS
from app.locks import SQL as LOCKS_IN_SQL
from app.locks.handle import LockCounts
from app.modes import MODES, SQL, Way
from app.store.keys import Keys
from app.text import Text, instead, together

# ms. A buyer waits without a limit, unless the target has one: so a wait that never
# ends can be seen.
FOR_EVER_MS = 10**15
ONE = "one"  # the buyer that is at all windows


def check(name: str) -> None:
    """Raise Invalid when there is no such mode or mode:recipe, or it cannot be explored."""
    where = ELSEWHERE.get(name) or ELSEWHERE.get(WayName.parse(name).mode)
    if where:
        text = Text("%(name)s keeps its state in %(where)s: see --help.", name=name, where=where)
        raise Invalid({"target": text})
    if name not in explorable():
        unknown = Text("There is no %(name)s to be explored.", name=f"{name!r:.60}")
        raise Invalid({"target": together(unknown, instead(name, explorable()))})


def explorable() -> list[str]:
    """Return all targets in teaching order; `lock` with each of its recipes."""
    names = []
    for mode in MODES:
        names += [f"lock:{recipe}" for recipe in LOCKS] if mode == "lock" else [mode]
    return [name for name in names if name not in ELSEWHERE]


def in_sql(name: str) -> bool:
    """Return whether the mode sells in the database, and is explored there: see sql/explore.py."""
    return name in SQL


ELSEWHERE = {
    **dict.fromkeys([*SQL, *(f"lock:{name}" for name in LOCKS_IN_SQL)], Text("an SQL database")),
    "lock:zookeeper": "ZooKeeper",
}


@dataclass(frozen=True)
class Target:
    """A way to sell, `mode` or `mode:recipe`, and the round in which it sells."""

    name: str
    stock: int = 1
    quantity: int = 1
    think: int = 0
    resend: bool = False  # as redis-py does by default
    wait: int = FOR_EVER_MS  # ms for which a buyer waits for a lock
    per_buyer: int = 0  # the most units of one buyer: then all are one, at several windows

    @cached_property
    def round(self) -> Round:
        return self.usual_round()

    def usual_round(self) -> Round:
        return Round(
            "apple",
            1,
            self.stock,
            self.name,
            think=self.think,
            wait=self.wait,
            attempts=2,
            per_buyer=self.per_buyer,
        )

    @cached_property
    def keys(self) -> Keys:
        return Keys(self.round.item, self.round.number)

    @property
    def pauses(self) -> tuple[int, ...]:
        """The pauses in ms that outlast a lease, also one that is counted in whole seconds."""
        return (self.round.lease + 2_000,)

    @property
    def locks(self) -> bool:
        """Whether a recipe alone keeps the other buyers out."""
        return bool(self.round.recipe)

    @property
    def lock_key(self) -> bytes | None:
        return self.keys.lock.encode()

    @property
    def alike(self) -> bool:
        """True: the modes use a buyer's name only to see whether two are the same."""
        return True

    @property
    def names_follow(self) -> Sequence[bytes]:
        """The bytes after which `order()` has a buyer's name."""
        return b"order-", b"key-", b'"buyer":"'

    @property
    def reuse_tokens(self) -> bool:
        """Whether the recipe draws a token for each try, and shows it only to servers."""
        return self.round.recipe == "redlock"

    @property
    def rules(self) -> Sequence[Rule]:
        return (ABOVE_LIMIT, *RULES) if self.per_buyer else RULES

    @property
    def columns(self) -> Columns:
        """The columns of `shown`."""
        return COLUMNS

    @property
    def gave_up(self) -> str:
        return Outcome.BUSY

    @property
    def vocabulary(self) -> Vocabulary:
        return vocabulary.VOCABULARY

    @property
    def setting(self) -> str:
        limit = f", {self.per_buyer} for one buyer at all windows" if self.per_buyer else ""
        return shelf(self.stock, self.quantity, self.think) + limit

    def identity(self) -> dict[str, str]:
        return {"target": self.name}

    def terms(self) -> dict[str, int | str]:
        return {
            "stock": self.stock,
            "quantity": self.quantity,
            "think_ms": self.think,
            "retries": "default" if self.resend else 0,
            **({"per_buyer": self.per_buyer} if self.per_buyer else {}),
        }

    def surroundings(self) -> AbstractContextManager[None]:
        return sharing()

    def setup(self) -> list[list[Command]]:
        """Return the first commands to each server: the store, and redlock's masters."""
        load: list[Command] = [
            (b"SCRIPT", b"LOAD", text.encode()) for text in vocabulary.scripts().values()
        ]
        shelve: Command = (b"SET", self.keys.stock.encode(), b"%d" % self.stock)
        masters = MASTERS if self.round.recipe == "redlock" else 0
        return [[*load, shelve], *([load] * masters)]

    def order(self, buyer: str) -> Order:
        id, who = f"order-{buyer}", ONE if self.per_buyer else buyer
        return Order(id, "apple", 1, self.quantity, 60, who, f"key-{buyer}", EPOCH)

    @property
    def code(self) -> Code:
        return Code(
            self._purchase,
            errors=(ShopError,),
            section="critical_section",
            shown=("app.modes.", "app.locks.", "fairlock."),
            harness=("app.explorer.",),
            counters=(LockCounts,),
            words=vocabulary.WORDS,
        )

    def _purchase(self, buyer: Actor) -> str:
        """Buy as the shop does, and return the outcome."""
        mode = Way.of(self.round.mode).mode
        servers: Any = GateServers(self.resend)
        clock: Any = buyer.clock
        return mode(servers, clock, self.round).sell(self.order(buyer.name)).outcome

    def filled_up(self, entries: dict[bytes, Entry]) -> dict[bytes, Entry]:
        """Return the entries with the first stock and without sales; a lock stays as it is.

        Its fencing number is removed: it would make each state a new one, and does not decide which
        buyer is next.
        """
        lock = self.keys.lock.encode()
        remaining = {
            key: entry
            for key, entry in entries.items()
            if key.startswith(lock) and not key.endswith(b":fence")
        }
        return remaining | {self.keys.stock.encode(): Entry(b"%d" % self.stock, None)}

    def book(self, entries: dict[bytes, Entry], *_: dict[bytes, Entry]) -> Any:
        return self.usual_book(entries)

    def usual_book(self, entries: dict[bytes, Entry]) -> Book:
        stock = entries.get(self.keys.stock.encode())
        stream = entries.get(self.keys.sales.encode())
        lock = entries.get(self.keys.lock.encode())
        sales = []
        if stream and isinstance(stream.value, Stream):
            for entry in stream.value.entries:
                order = Order.decode(entry.fields[1])
                sales.append(Sold(order.id, order.quantity))
        held = None
        if lock and isinstance(lock.value, bytes):
            # A value that is a number is the time at which the lock ends.
            ends = lock.expires is not None or lock.value.isdigit()
            held = StoredLock(lock.value, ends, lock.expires)
        left = int(stock.value) if stock and isinstance(stock.value, bytes) else 0
        return Book(left, tuple(sales), held)

    def moments(self, _: dict[bytes, Entry]) -> Iterable[int]:
        return ()  # leases are keys that expire

    def shown(self, book: Any) -> Shown:
        shown: Shown = book.shown()
        return shown
