"""`lastapple audit --repair` in every order: two that repair, one that accepts, and fulfil.

`Mend`, `ConsistencyCheck` and the store's steps are the shop's. The books are plain data that do
not change: every sale that is moved here was booked before, so they are right at every moment.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from badluck.actor.actor import Actor, Code
from badluck.model.values import Command, Entry
from badluck.report.saved_traces import Columns
from badluck.rule import Rule
from badluck.search.names import LETTERS
from badluck.target import EPOCH, Shown, Vocabulary

from app.domain import Lack, Loss, Order, Round, ShopError, StoreAway
from app.explorer import repair_findings, vocabulary
from app.explorer.repair_findings import MendBook
from app.explorer.servers import GateServers
from app.explorer.targets import Target
from app.service import consistency
from app.service.consistency import ConsistencyCheck
from app.service.pairing import Pairing
from app.service.repair import BookedOrders, BookedRounds, Lost, Mend, MendBooks
from app.store import dead_letters, keys, sales
from app.store.keys import Keys
from app.store.rounds import GROUP
from app.store.sql.begun_rounds import Seen
from app.store.sql.orders import OrderLine

STOCK = 4
# Four sales of one unit each: the orders that exist in the end.
BOOKED, MOVED, REFUSED, TOLD = (f"order-{letter}" for letter in "WXYZ")


@dataclass(frozen=True)
class Repairing(Target):
    """Four of four units are sold. The store has lost two of the sales, and says that 2 are left.

    BOOKED: in the books alone. MOVED: in the books, and not yet removed from the stream. REFUSED:
    in the stream, and the database will refuse it. TOLD: known only to a worker, which has stored
    it next to the mark.
    """

    name: str = "repair"
    stock: int = STOCK
    accepts: bool = False  # is C there?

    @cached_property
    def round(self) -> Round:
        return Round("apple", 1, STOCK, "atomic", ended=EPOCH)

    @cached_property
    def names(self) -> Keys:
        return Keys(self.round.item, self.round.number)

    @property
    def alike(self) -> bool:
        return False  # see REPAIRS

    @property
    def rules(self) -> Sequence[Rule]:
        return repair_findings.RULES

    @property
    def columns(self) -> Columns:
        return repair_findings.COLUMNS

    @property
    def vocabulary(self) -> Vocabulary:
        return vocabulary.VOCABULARY._replace(actor="actor", charted=tuple(self.columns))

    @property
    def setting(self) -> str:
        then = ", and C accepts" if self.accepts else ""
        return f"a store that has lost two of four sales, {REPAIRS[self.name].effect}{then}"

    # Values that the rules use.
    sold, waiting, confirmed = STOCK, REFUSED, TOLD
    booked_keys, told_keys = frozenset({"W", "X"}), frozenset({"Z"})

    def terms(self) -> dict[str, int | str]:
        return {"accepts": int(self.accepts)}

    def surroundings(self) -> AbstractContextManager[None]:
        return _quietly(super().surroundings())

    def setup(self) -> list[list[Command]]:
        names, item = self.names, self.round.item
        lack = Lack(item, Loss.SALES, 1, 1, orders=2, sales=1)
        load = [(b"SCRIPT", b"LOAD", text.encode()) for text in vocabulary.scripts().values()]
        told_order = order(TOLD)
        wanted: list[tuple[str | bytes | int, ...]] = [
            *(("SET", names.record, self.round.encode()), ("SET", names.ended, 2)),
            *(("SET", keys.newest(item), 1), ("SADD", keys.streams(item), 1)),
            ("XGROUP", "CREATE", names.sales, GROUP, "0", "MKSTREAM"),
            *(("XADD", names.sales, "*", "sale", order(id).encode()) for id in (MOVED, REFUSED)),
            *(("SET", names.key(order(id).key), order(id).encode()) for id in (MOVED, REFUSED)),
            *(("SET", keys.lacks(item), lack.encode()), ("SET", names.lacks, lack.encode())),
            ("HSET", keys.witnessed(item), told_order.id, told_order.encode()),
        ]
        return [[*load, *(tuple(map(_bytes, words)) for words in wanted)]]

    @property
    def code(self) -> Code:
        shown = ("app.service.repair", "app.service.consistency", "app.store.")
        harness = ("app.explorer.", "sqlalchemy.")
        return super().code._replace(shown=shown, section="", harness=harness)

    def _purchase(self, actor: Actor) -> str:
        role = REPAIRS[self.name].roles[LETTERS.index(actor.name)]
        return role(RepairShop())

    def book(self, entries: dict[bytes, Entry], *_: dict[bytes, Entry]) -> MendBook:
        return repair_findings.read(entries, self.names)

    def shown(self, book: Any) -> Shown:
        shown: Shown = book.shown()
        return shown


def order(id: str) -> Order:
    letter = id[-1]
    return Order(id, "apple", 1, 1, 60, letter, letter, EPOCH)


class RepairShop(GateServers):
    """A process of the shop, and the books that it reads."""

    def __init__(self) -> None:
        super().__init__()
        self.clock = self
        self.consistency = FrozenCheck(self)

    def now(self, ask: bool = True) -> int:
        return EPOCH


class FrozenBooks(MendBooks):
    def __init__(self) -> None:
        """Plain data."""

    def rounds(self, item: str, since: int) -> BookedRounds:
        return BookedRounds({1: Round("apple", 1, STOCK, "atomic")}, [1])

    def lost(self, item: str, since: int) -> Lost:
        return Lost([], {}, {})

    def of_round(self, item: str, number: int, told: Sequence[Order]) -> BookedOrders:
        rows = [OrderLine(id, 1, order(id).key) for id in (BOOKED, MOVED)]
        return BookedOrders(rows, [None for _ in told])


class SurePairing(Pairing):
    def check(self, item: str) -> bool:
        return False


class FrozenCheck(ConsistencyCheck):
    def __init__(self, servers: Any) -> None:
        super().__init__(servers)
        self.pairing = SurePairing(servers)

    def _seen(self, item: str) -> Seen:
        return Seen(1, 2)

    def _lost_orders(self, item: str) -> Lack | None:
        return None

    def _note(self, item: str, round: int) -> None:
        """Do nothing: the note is never read here."""

    def _bought_since(self, item: str, moment: int) -> Iterator[Sequence[Order]]:
        yield [order(BOOKED), order(MOVED)]


def mends(shop: RepairShop) -> str:
    """Repair as with --yes."""
    rounds: Any = shop
    servers: Any = shop
    try:
        plan = Mend(servers, rounds, FrozenBooks()).do("apple")
    except StoreAway:
        raise
    except ShopError:  # another process was faster, and the error says so
        return "MEANWHILE"
    return "MENDED" if plan else "NOTHING"


def accepts(shop: RepairShop) -> str:
    try:
        lack = shop.consistency.accept("apple")
    except StoreAway:
        raise
    except ShopError:
        return "MEANWHILE"
    return "ACCEPTED" if lack else "NOTHING"


def moves(shop: RepairShop) -> str:
    """Do fulfil's last steps: remove the booked sale, and make the refused one a dead letter."""
    names = Keys("apple", 1)
    records: Any = shop.store.xrange(names.sales, count=2)
    moved, refused = (record for record in records[:2])
    sales.let_go(shop.store, names, {moved[0]: order(MOVED)})
    dead_letters.add(shop.store, names, refused[0], refused[1], "refused", 0, "")
    return "MOVED"


class Repair(NamedTuple):
    roles: tuple[Callable[[RepairShop], str], ...]  # A's, B's and C's
    effect: str


REPAIRS = {
    "repair": Repair((mends, mends, accepts), "which A and B mend at once"),
    "repair:fulfil": Repair(
        (mends, moves, accepts), "which A mends while fulfil (B) moves what remains"
    ),
}
MOST = len(REPAIRS["repair"].roles)  # actors


def _bytes(word: str | bytes | int) -> bytes:
    return word if isinstance(word, bytes) else str(word).encode()


@contextmanager
def _quietly(usual: AbstractContextManager[None]) -> Iterator[None]:
    log: logging.Logger = consistency.log
    before, log.disabled = log.disabled, True
    try:
        with usual:
            yield
    finally:
        log.disabled = before
