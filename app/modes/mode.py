"""The base of all modes: facts, the round, retries after a pause."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import replace
from typing import ClassVar

from app.domain import Clock, Order, Outcome, Round, Sale
from app.locks.handle import Handle
from app.store.keys import Keys
from app.store.round_sales import RoundSales
from app.store.servers import Servers

# Full jitter, 1 to 256 ms: the n-th pause is a random share of 2**n ms. Near the best for
# goodput at 8, 32 and 128 contenders; a cap of 8 ms sells less and is fairer.
BACKOFF = 0.001
BACKOFF_CAP = 0.256


class Mode(ABC):
    """One way to sell. Its module's docstring says how, what it prevents, breaks and costs.

    Each mode sets its name, and each fact below that differs from the default.
    """

    name: ClassVar[str]
    exhibit: ClassVar[bool] = False  # broken on purpose, for teaching; never a default
    # Where its stock is: "store", "database", or "rows", a database that can lock single rows.
    needs: ClassVar[str] = "store"
    # Round trips and commands of a purchase without contention. Those of a recipe are added, those
    # of SQL are not counted.
    cost: ClassVar[tuple[int, int]] = (0, 0)
    outlived: ClassVar[str] = ""  # what follows if the work outlives its lease; "": it has no lease
    no_think: ClassVar[str] = ""  # why think time does nothing; "": it does something
    # While one purchase is in its critical section, do all others wait?
    one_at_a_time: ClassVar[bool] = False
    # May INCRBY put units back at any moment? Not where SET writes what GET read.
    increments: ClassVar[bool] = False
    tutorials: ClassVar[tuple[int, ...]] = ()  # which of the five teach it

    def __init__(self, servers: Servers, clock: Clock, round: Round) -> None:
        """`servers` and `clock` are a mode's only access to the outside."""
        self.servers = servers
        self.clock = clock
        self.round = round
        self.keys = Keys.of(round)
        self.lease_s = round.lease / 1000

    @abstractmethod
    def sell(self, order: Order) -> Sale:
        """Try to sell `order.quantity` units, all or nothing.

        If the order's key has bought before, return that sale. Return ROUND_OVER when the
        round's stock is gone from the store, or marked as ended in the database. Raises
        redis.RedisError or DatabaseAway. Then it is unknown whether the sale happened: a retry
        with the same key finds out.
        """


class StoreMode(Mode):
    """A mode that sells in the store. `sales` reads and writes the keys next to the stock."""

    def __init__(self, servers: Servers, clock: Clock, round: Round) -> None:
        super().__init__(servers, clock, round)
        self.store = servers.store
        self.sales = RoundSales(round, self.keys)


class LockingMode(StoreMode):
    """A mode that writes a stock computed from its read, and checks for no write in between.

    So any other writer of the stock needs the lock of its `recipe`, too.
    """

    recipe: type[Handle]

    def lock(self) -> Handle:
        """Make a new handle on the round's lock."""
        client = getattr(self.servers, self.recipe.needs)
        return self.recipe(client, self.keys.lock, self.lease_s, clock=self.clock)


class DatabaseMode(Mode):
    """A mode that sells in the database. `sales` reads and writes the rows next to the stock."""

    needs = "database"

    def __init__(self, servers: Servers, clock: Clock, round: Round) -> None:
        from app.store.sql.sales import SqlSales  # SQLAlchemy is slow to load

        super().__init__(servers, clock, round)
        self.database = servers.transactions
        self.sales = SqlSales(round, lambda: servers.clock.now(ask=False))


def retried(attempt: Callable[[Order], Sale], order: Order, clock: Clock, round: Round) -> Sale:
    """Attempt a sale. Retry while it is BUSY, as often and as long as the round allows."""
    deadline = clock.now() + round.wait / 1000
    for number in range(1, round.attempts + 1):
        sale = attempt(order)
        if sale.outcome is not Outcome.BUSY:
            return replace(sale, attempts=number, conflicts=number - 1)
        if not pause(clock, number, deadline):
            break
    return replace(sale, attempts=number, conflicts=number)


def pause(clock: Clock, attempt: int, deadline: float) -> bool:
    """Pause for a random time. Return False at once if the pause would end after the deadline."""
    seconds = clock.random() * min(BACKOFF_CAP, BACKOFF * 2**attempt)
    if clock.now() + seconds > deadline:
        return False
    clock.sleep(seconds)
    return True
