"""A story about a lock: buyers who follow a script, on a real server, and a tape of it all.

The story controls everything except the server: each buyer's steps and their times, the clocks, the
tokens, and the moment between two commands of one buyer. So a story always gives the same timeline.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from dataclasses import dataclass

from sqlalchemy import text

from app.config import Settings
from app.locks import LOCKS
from app.store.clients.redis import connect
from app.store.servers import Servers
from app.store.sql import db
from tests.integration.locks.buyer import Buyer
from tests.integration.locks.tape import SCRIPTS, told

FENCE = re.compile(r"\b\d{16}\b")
LINE = "{lock}:line"
OTHER_KEYS = f" {LINE} {{lock}}:fence {{lock}}:asked"  # of `queue`, behind the lock's own
PLACE = re.compile(r'\["tok-(\w+)",.*?\]')
RANDOM = re.compile(r"\b[0-9a-f]{32}(-\d+-\d+)?\b")
LEFT = re.compile(r"(?<=\[0, )(\d+), (\d+)(?=\]$)")


@dataclass(frozen=True)
class Row:
    """One line of a timeline: a command with its reply, or words. `who` is "" for all."""

    who: str
    text: str
    command: bool
    state: tuple[str, ...]


@dataclass(frozen=True)
class Where:
    """The servers of a story, all of them empty; URLs."""

    store: str
    masters: tuple[str, ...]
    database: str


class Story:
    """One unit in stock, a free lock, and a tape that begins to run."""

    def __init__(self, where: Where, recipe: str) -> None:
        self.where = where
        self.settings = Settings(
            redis_url=where.store, database_url=where.database, store_timeout=3_000
        )
        self.recipe = LOCKS[recipe]
        self.wide = True  # a column for each buyer; else one for all, for long commands
        self.stocked = 0
        self.time = 0.0  # s since the story began
        self.rows: list[Row] = []
        self.buyers: list[Buyer] = []
        self.fences: dict[str, str] = {}  # long fencing token -> short one
        # For steps that no buyer takes: they are not taped.
        self.outside = Servers(self.settings)
        self.stores = [connect(url, 3_000) for url in (where.store, *where.masters)]
        for store in self.stores:
            store.flushall()
            for script in SCRIPTS.values():
                store.script_load(script)
        self.looks = {"stock": self.value("stock")} | self._locks()  # shown on each line
        self.restock(1)

    def _locks(self) -> dict[str, Callable[[], object]]:
        if self.recipe.needs == "masters":
            return {f"lock {n}": self.value("lock", n) for n in range(1, len(self.stores))}
        if self.recipe.needs == "database":
            db.migrate(self.outside.engine)
            self.sql("DELETE FROM locks")
            return {"owner": self.owner}
        return {"lock": self.value("lock")}

    def value(self, key: str, master: int = 0) -> Callable[[], object]:
        return lambda: self.stores[master].get(key)

    def line(self) -> object:
        """Return the names of the buyers in the line."""
        places = self.stores[0].lrange(LINE, 0, -1)
        return " ".join(json.loads(place)[0].removeprefix("tok-") for place in places) or None

    def owner(self) -> object:
        with self.outside.engine.begin() as sql:
            return sql.execute(text("SELECT owner FROM locks")).scalar()

    def sql(self, statement: str, **values: object) -> None:
        with self.outside.engine.begin() as connection:
            connection.execute(text(statement), values)

    def restock(self, units: int) -> None:
        self.stocked = units
        self.stores[0].set("stock", units)

    def buyer(self, name: str, ahead: float = 0) -> Buyer:
        """Return a new buyer, whose wall clock is `ahead` s ahead of the others'."""
        self.buyers.append(Buyer(self, name, ahead))
        return self.buyers[-1]

    def shows(self, key: str) -> None:
        self.looks[key] = self.value(key)

    def shows_line(self) -> None:
        self.looks["line"] = self.line

    def tell(self, who: str, text: str, command: bool = False) -> None:
        values = [look() for look in self.looks.values()]
        state = tuple("-" if value is None else self.short(told(value)) for value in values)
        # The random part of a buyer's command names his process, or else a channel of his.
        text = RANDOM.sub(who, self.short(text))
        self.rows.append(Row(who, text, command, state))

    def short(self, text: str) -> str:
        """Shorten fencing tokens, which hold the server's time, to fence-1, fence-2 …

        The rest of a lease is given in whole seconds, rounded up; a place in the line is a name.
        """
        for long in FENCE.findall(text):
            self.fences.setdefault(long, f"fence-{len(self.fences) + 1}")
        text = FENCE.sub(lambda found: self.fences[found[0]], text)
        text = LEFT.sub(lambda found: f"{found[1]}, {math.ceil(int(found[2]) / 1000)}000", text)
        return PLACE.sub(r"place-\1", text.replace(OTHER_KEYS, " …"))

    def ends(self) -> None:
        """Add the balance, by the values on the server."""
        sold = self.stores[0].llen("orders") + self.stores[0].xlen("sales")
        verdict = ": OVERSOLD" if sold > self.stocked else ""
        self.tell("", f"sold {sold} of {self.stocked}{verdict}")

    def passes(self, seconds: float, words: str) -> None:
        """Let so much time pass, for all clocks and for the leases on the servers."""
        self.time += seconds
        for store in self.stores:
            for key in store.scan_iter():
                if (left := store.pttl(key)) > 0:
                    store.pexpire(key, left - int(seconds * 1000))  # deletes what is over
        if self.recipe.needs == "database":
            self.sql("UPDATE locks SET until = until - :seconds", seconds=seconds)
        self.tell("", f"{seconds:g} s go by: {words}")

    def deletes_lock(self, words: str) -> None:
        """Delete the lock, as a person does who thinks that its holder has died."""
        self.stores[0].delete("lock")
        self.tell("", words)

    def forgets(self, master: int, words: str) -> None:
        """Empty a master, like a restart without a log."""
        self.stores[master].flushdb()
        self.tell("", words)

    def close(self) -> None:
        for store in (*self.stores, *(buyer.store for buyer in self.buyers)):
            store.close()
        for servers in (self.outside, *(buyer.servers for buyer in self.buyers)):
            servers.engine.dispose()


Telling = Callable[[Story], None]
