"""A shop of a few lines that keeps its promises, and the history that its buyers make of it."""

from __future__ import annotations

import heapq
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from itertools import count

from loadtest.chaos.history import (
    Action,
    Book,
    BookEntry,
    Event,
    Reply,
    Request,
    Response,
    RoundAudit,
    RoundEnded,
    RoundStarted,
    RunStarted,
)

MS = 1_000_000


@dataclass
class Wish:
    """A purchase in the shop's own records."""

    units: int
    buyer: str
    stands: Reply | None = None  # HELD, SOLD, EXPIRED, GIVEN_BACK


@dataclass
class Shop:
    """One round of one item; `lossy` answers of a hundred are lost, half of them undone."""

    seed: int
    buyers: int = 50
    stock: int = 60
    hold: int | None = 800  # ms
    presses: int = 8  # purchases that each buyer begins
    most: int = 1  # units of a purchase
    lossy: int = 5
    events: list[Event] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.rng = random.Random(self.seed)
        self.free = self.stock
        self.wishes: dict[str, Wish] = {}
        self.heap: list[tuple[int, int, Callable[[], object]]] = []
        self.serial = count()
        self.now = 0
        self.op = count(1)

    def history(self) -> list[Event]:
        self.events.append(RunStarted(self.seed, 1.0, "safe", "sqlite"))
        self.events.append(RoundStarted(0, 1, "apple", 1, self.stock, "atomic", self.hold))
        for buyer in range(self.buyers):
            self._in(self.rng.randint(5, 200), partial(self._press, f"b{buyer}", 0))
        while self.heap:
            self.now, _, happens = heapq.heappop(self.heap)
            happens()
        self._books()
        return self.events

    def _in(self, ms: float, happens: Callable[[], object]) -> None:
        at = self.now + int(ms * MS) + self.rng.randint(0, 999)
        heapq.heappush(self.heap, (at, next(self.serial), happens))

    def _press(self, buyer: str, number: int) -> None:
        if number == self.presses:
            return
        key = f"{buyer}-{number}"
        self.wishes[key] = Wish(self.rng.randint(1, self.most), buyer)
        self._buy(key, 0)
        self._in(self.rng.expovariate(1 / 250) + 1, lambda: self._press(buyer, number + 1))

    def _ask(
        self,
        deed: Action,
        key: str,
        does: Callable[[], tuple[Reply, int | None]],
        then: Callable[[Reply], None],
    ) -> None:
        """Call, happen, get the answer; or happen later or never, without an answer."""
        wish, op = self.wishes[key], next(self.op)
        units = wish.units if deed is Action.BUY else 0
        self.events.append(Request(op, self.now, deed, wish.buyer, "apple", key, units, 1))

        def told(answer: Reply, left: int | None) -> None:
            order = f"o-{key}" if answer in (Reply.SOLD, Reply.HELD) else None
            self.events.append(Response(op, self.now, answer, 1, order, left))
            then(answer)

        def lost() -> None:
            self.events.append(Response(op, self.now, Reply.UNKNOWN, evidence="ReadTimeout"))
            then(Reply.UNKNOWN)

        def happen() -> None:
            answer, left = does()
            self._in(self.rng.expovariate(1 / 10), lambda: told(answer, left))

        if self.rng.randint(1, 100) <= self.lossy:
            if self.rng.random() < 0.5:
                self._in(self.rng.expovariate(1 / 300), does)
            self._in(100, lost)
        else:
            self._in(self.rng.expovariate(1 / 10), happen)

    def _buy(self, key: str, again: int) -> None:
        def then(answer: Reply) -> None:
            if answer is Reply.UNKNOWN and again < 3 and self.rng.random() < 0.7:
                self._in(self.rng.expovariate(1 / 50), lambda: self._buy(key, again + 1))
            if answer is Reply.HELD:
                self._decide(key)

        self._ask(Action.BUY, key, lambda: self._sell(key), then)

    def _sell(self, key: str) -> tuple[Reply, int | None]:
        wish = self.wishes[key]
        if wish.stands:
            return wish.stands, None
        if self.rng.random() < 0.02:
            return Reply.BUSY, None
        if self.free < wish.units:
            return Reply.SOLD_OUT, self.free
        self.free -= wish.units
        wish.stands = Reply.SOLD if self.hold is None else Reply.HELD
        if self.hold is not None:
            self._in(self.hold, lambda: self._end(key, Reply.EXPIRED))
        return wish.stands, self.free

    def _decide(self, key: str) -> None:
        """Pay, pay late, pay twice, decline, cancel, or abandon it."""
        roll, hold = self.rng.random(), self.hold or 0
        if roll < 0.45:
            self._in(self.rng.expovariate(1 / 100), lambda: self._pay(key, 2))
        elif roll < 0.6:
            self._in(hold * self.rng.uniform(0.9, 1.6), lambda: self._pay(key, 1))
        elif roll < 0.75:
            deed = self.rng.choice([Action.DECLINE, Action.CANCEL])
            self._in(self.rng.expovariate(1 / 100), lambda: self._give_up(deed, key))

    def _pay(self, key: str, more: int) -> None:
        def then(answer: Reply) -> None:
            if more and self.rng.random() < (0.9 if answer is Reply.UNKNOWN else 0.2):
                self._in(self.rng.expovariate(1 / 50), lambda: self._pay(key, more - 1))

        self._ask(Action.PAY, key, lambda: (self._end(key, Reply.SOLD), None), then)

    def _give_up(self, deed: Action, key: str) -> None:
        self._ask(deed, key, lambda: (self._end(key, Reply.GIVEN_BACK), None), lambda _: None)

    def _end(self, key: str, how: Reply) -> Reply:
        """End it once; the units follow, at once or with a later sweep."""
        wish = self.wishes[key]
        if wish.stands is Reply.HELD:
            wish.stands = how
            if how is not Reply.SOLD:
                self._in(self.rng.choice([0, 0, 200]), lambda: self._put_back(wish))
        assert wish.stands
        return wish.stands

    def _put_back(self, wish: Wish) -> None:
        self.free += wish.units

    def _books(self) -> None:
        end = self.now + 1_000 * MS
        self.events.append(RoundEnded(end, "apple", 1, end + MS))
        sold = 0
        for key, wish in self.wishes.items():
            if wish.stands is Reply.SOLD:
                sold += wish.units
                entry = (f"o-{key}", "apple", 1, wish.units, key, wish.buyer)
                self.events += [BookEntry(Book.DATABASE, *entry), BookEntry(Book.STORE, *entry)]
        audit = RoundAudit(
            end + 2 * MS, "apple", 1, self.stock, self.free, 0, sold, verdict="exact"
        )
        self.events.append(audit)
