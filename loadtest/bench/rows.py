"""The rows of the table, and the choice of rows for a run.

A row that is more than a lock around the common section (for example, one that fuses the section
into its scripts) has a `build` of its own. It sells like all others: stock - 1 under `names.stock`,
and one more entry in the stream `names.sales` for each unit. The bench compares both with its own
count.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from typing import Any

import redis
from fairlock import FusedLock, Lock

from app.config import Settings
from app.domain import Clock, Invalid, Order, Outcome, Round
from app.domain.ids import draw_id
from app.locks import LOCKS
from app.locks.handle import Handle
from app.locks.queue import Queue
from app.modes import MODES
from app.store.servers import Servers
from loadtest.bench import peers
from loadtest.bench.contender import WAIT_S, Attempt, Contender, Guarded, Mutex, Names


class Whole:
    def __init__(self, name: str, servers: Servers, names: Names, _: int) -> None:
        """Build the mode as the shop does for a round with the usual times, except for the keys."""
        self.item = names.lock
        round = Round(names.lock, 1, 1, name)
        self.mode = MODES[name](servers, Clock(), round)
        keys = self.mode.keys
        keys.lock, keys.stock, keys.sales = names.lock, names.stock, names.sales

    def sell(self) -> Attempt:
        id = draw_id()
        order = Order(id, self.item, 1, 1, 60, "", id, int(time.time() * 1000))
        start = time.monotonic()
        sale = self.mode.sell(order)
        return Attempt(time.monotonic() - start, sale.outcome is Outcome.SOLD)


class Recipe:
    """One of our recipes as a lock that is used again and again."""

    def __init__(self, recipe: type[Handle], client: Any, name: str, lease_s: float) -> None:
        self.recipe = recipe
        self.client = client
        self.clock = Clock()
        self.name = name
        self.lease_s = lease_s

    def acquire(self) -> bool:
        self.handle = self.recipe(self.client, self.name, self.lease_s, clock=self.clock)
        return self.handle.acquire(wait_s=WAIT_S)

    def release(self) -> bool:
        return self.handle.release()


def own_contender(recipe: type[Handle], servers: Servers, names: Names, lease: float) -> Contender:
    lock = Recipe(recipe, getattr(servers, recipe.needs), names.lock, lease)
    return Guarded(lock, servers.store, names)


COHORT = 64  # passes between threads of one process, at most


def any_section(cohort: int, servers: Servers, names: Names, lease: int) -> Contender:
    """Use fairlock's replacement of redis-py's Lock."""
    store = servers.store
    lock = Lock(store, names.lock, timeout=lease, blocking_timeout=WAIT_S, cohort=cohort)
    return Guarded(lock, store, names)


class Inlined:
    """The section of the other rows, its commands travelling with the lock."""

    def __init__(self, servers: Servers, names: Names, lease: int) -> None:
        self.lock = FusedLock(servers.store, names.lock)
        self.names = names

    def sell(self) -> Attempt:
        start = time.monotonic()
        values = self.lock.acquire([self.names.stock], WAIT_S)
        waited = time.monotonic() - start
        if values is None:
            return Attempt(waited, sold=False)
        left = int(values[0]) - 1
        sold = self.lock.release(
            ["SET", self.names.stock, left], ["XADD", self.names.sales, "*", "left", left]
        )
        return Attempt(waited, sold)


no_cohort = partial(any_section, 0)
cohort = partial(any_section, COHORT)


# Makes one contender; all contenders of a process share its `Servers`.
Build = Callable[[Servers, Names, int], Contender]

BASE = "python-redis-lock"  # the only peer that neither sleeps nor starves: the fair yardstick


@dataclass(frozen=True)
class LockRow:
    """One lock in the table. `build` is found by its name in other processes: no lambdas."""

    name: str
    settings: str  # how the lock is made, for a person
    build: Build
    module: str = ""  # what must be installed,
    package: str = ""  # and what its package is called
    exhibit: bool = False
    needs: str = "store"  # what of `Servers` it lives in

    @property
    def counted(self) -> bool:
        """Return whether its commands can be counted.

        SQLite is a library: it makes no round trips.
        """
        return self.needs != "database"


WHERE = {
    "store": "our recipe",
    "masters": "our recipe, on three more embedded Valkeys",
    "database": "our recipe, in a SQLite file in the run's folder, synced to disk; not counted",
    "zookeeper": "our recipe, on the servers of ZOOKEEPER_HOSTS, over their network and disks",
}

OURS = [
    LockRow(
        name,
        WHERE[recipe.needs],
        partial(own_contender, recipe),
        exhibit=recipe.exhibit,
        needs=recipe.needs,
    )
    for name, recipe in LOCKS.items()
    if recipe is not Queue
]

QUEUE = [
    LockRow("queue", "fairlock.Lock(), strictly first come, first served", no_cohort),
    LockRow("queue-cohort", f"fairlock.Lock(cohort={COHORT})", cohort),
    LockRow("queue-inlined", "fairlock.FusedLock, the section's commands inside", Inlined),
]

WHOLE = {
    "watch": "mode watch, its whole sale, with its own jitter",
    "fused": "mode fused, its whole sale",
    "atomic": "mode atomic, its whole sale",
}
WHOLE_SALES = [LockRow(name, about, partial(Whole, name)) for name, about in WHOLE.items()]


def _peer(
    name: str, settings: str, lock: Callable[[redis.Redis, str, int], Mutex], module: str = ""
) -> LockRow:
    return LockRow(name, settings, partial(peers.contender, lock), module, module and name)


REDLOCK_PY = f"redlock.Redlock(retry_delay={peers.REDLOCK_PY_DELAY}) with one master"
POTTERY = "pottery.Redlock() with one master, sleeps 0 to 0.2 s at random"
SHERLOCK = "sherlock.RedisLock(retry_interval=0.1), its default"
BLPOP = "redis_lock.Lock(), waits in BLPOP"
PEERS = [
    _peer("redis-py", "redis.lock.Lock(sleep=0.1), its default", peers.redis_py),
    _peer("redis-py-1ms", "redis.lock.Lock(sleep=0.001)", peers.redis_py_1ms),
    _peer("python-redis-lock", BLPOP, peers.python_redis_lock, "redis_lock"),
    _peer("pottery", POTTERY, peers.pottery, "pottery"),
    _peer("sherlock", SHERLOCK, peers.sherlock, "sherlock"),
    _peer("redlock-py", REDLOCK_PY, peers.RedlockPy, "redlock"),
]

ROWS = {row.name: row for row in (*OURS, *QUEUE, *WHOLE_SALES, *PEERS)}

# The default rows, in the table's order: the sound ones that are fast enough to matter
# and need no more than the one server.
DEFAULT = ["lease", "watchdog", *(row.name for row in (*QUEUE, *PEERS))]


def missing(row: LockRow, zookeeper_hosts: str = "") -> str:
    """Return why the row cannot be measured here; "" when it can."""
    if row.module and find_spec(row.module) is None:
        return f"{row.name} is not installed: pip install {row.package}."
    if row.needs == "zookeeper":
        return Servers(Settings(zookeeper_hosts=zookeeper_hosts)).missing(row.needs)
    return ""


@dataclass(frozen=True)
class Choice:
    rows: list[LockRow]
    base: LockRow
    remarks: list[str]  # how the run differs from the request, and why


def choose(
    only: list[str] | None, base: str | None, missing: Callable[[LockRow], str] = missing
) -> Choice:
    """Return the rows to measure. The base is measured too, chosen or not: ratios need it.

    A row that is `missing` is left out with that remark; if it was named, it raises Invalid.
    """
    for option, names in (("--only", only or []), ("--base", [] if base is None else [base])):
        for name in names:
            if name not in ROWS:
                known = ", ".join(ROWS)
                raise Invalid({option: f"{option}: there is no lock {name}; known: {known}"})
            if why := missing(ROWS[name]):
                raise Invalid({option: f"{option}: {why}"})
    wanted = [ROWS[name] for name in only or DEFAULT]
    rows = [row for row in wanted if not missing(row)]
    remarks = [why for row in wanted if (why := missing(row))]
    against = ROWS[base or BASE]
    if why := missing(against):
        remarks.append(f"{why} Ratios are against {rows[0].name} instead.")
        against = rows[0]
    elif against not in rows:
        remarks.append(f"{against.name} is measured too: the ratios are against it.")
        rows.append(against)
    return Choice(rows, against, list(dict.fromkeys(remarks)))
