"""A story about a lock: buyers who do as they are told, on a real server, and a tape of it all.

Everything but the server is in the story's hand: who does what and when, the clocks, the tokens,
and the moment between two commands of one buyer. So a story always gives the same timeline.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from app.config import Settings
from app.domain import Clock
from app.locks import LOCKS
from app.locks.fenced import Fenced
from app.store import lua
from app.store.servers import Servers
from tests.integration.locks.tape import SCRIPTS, TapedServers, told, written

LEASE = 10  # s
EPOCH = 1000  # what clocks say when a story begins; small, to be read
FENCE = re.compile(r"\b\d{16}\b")


@dataclass(frozen=True)
class Row:
    """One line of a timeline: a command with its reply, or words. `who` is "" for all."""

    who: str
    text: str
    command: bool
    state: tuple[str, ...]


class Died(BaseException):
    """A buyer's process is gone: nothing that catches errors may catch this."""


class Story:
    """One unit in stock, nobody in the lock, and a tape that begins to run."""

    def __init__(self, url: str, recipe: str) -> None:
        self.settings = Settings(redis_url=url, store_timeout=3_000)
        self.recipe = recipe
        self.shows = ["stock", "lock"]  # the keys whose values stand beside every line
        self.wide = True  # a column for each buyer; else one for all, for long commands
        self.stocked = 0
        self.time = 0.0  # s since the story began
        self.rows: list[Row] = []
        self.buyers: list[Buyer] = []
        self.fences: dict[str, str] = {}  # fencing tokens (µs since 1970) by their rank
        self.outside = Servers(self.settings).store  # for what no buyer does: it is not taped
        self.outside.flushall()
        for name in SCRIPTS.values():
            self.outside.script_load(lua.source(name))
        self.restock(1)

    def restock(self, units: int) -> None:
        self.stocked = units
        self.outside.set("stock", units)

    def buyer(self, name: str, ahead: float = 0) -> Buyer:
        """A new buyer, whose wall clock is `ahead` s ahead of the others'."""
        self.buyers.append(Buyer(self, name, ahead))
        return self.buyers[-1]

    def tell(self, who: str, text: str, command: bool = False) -> None:
        values = self.outside.mget(self.shows)
        state = tuple("-" if value is None else self.short(told(value)) for value in values)
        self.rows.append(Row(who, self.short(text), command, state))

    def short(self, text: str) -> str:
        """Fencing tokens hold the server's time: here the first one is fence-1, and so on."""
        for long in FENCE.findall(text):
            self.fences.setdefault(long, f"fence-{len(self.fences) + 1}")
        return FENCE.sub(lambda found: self.fences[found[0]], text)

    def ends(self) -> None:
        """The balance, by what stands on the server."""
        sold = self.outside.llen("orders") + self.outside.xlen("sales")
        verdict = ": OVERSOLD" if sold > self.stocked else ""
        self.tell("", f"sold {sold} of {self.stocked}{verdict}")

    def passes(self, seconds: int, words: str) -> None:
        """So much time goes by, for all clocks and for the leases on the server."""
        self.time += seconds
        for key in self.outside.scan_iter():
            if (left := self.outside.pttl(key)) > 0:
                self.outside.pexpire(key, left - seconds * 1000)  # deletes what is over
        self.tell("", f"{seconds} s go by: {words}")

    def close(self) -> None:
        for client in (self.outside, *(buyer.store for buyer in self.buyers)):
            client.close()


class StoryClock(Clock):
    """Stands still until the story goes on; what is to be done every so often waits for a word."""

    def __init__(self, story: Story, name: str, ahead: float) -> None:
        self.story = story
        self.name = name
        self.ahead = ahead
        self.deeds: list[Callable[[], bool]] = []

    def now(self) -> float:
        return self.story.time

    def wall(self) -> float:
        return EPOCH + self.story.time + self.ahead

    def token(self) -> str:
        return f"tok-{self.name}"

    def every(self, seconds: float, deed: Callable[[], bool]) -> Callable[[], None]:
        self.deeds.append(deed)
        return lambda: self.deeds.remove(deed)


class Buyer:
    """Holds a handle of the recipe, and does one thing at a time."""

    def __init__(self, story: Story, name: str, ahead: float) -> None:
        self.story = story
        self.name = name
        self.clock = StoryClock(story, name, ahead)
        self.servers = TapedServers(story.settings, self)
        self.store = self.servers.store
        self.lock = LOCKS[story.recipe](self.servers, self.clock, "lock", LEASE)
        self.hands: dict[str, Callable[[], object]] = {}  # command -> what happens before it
        self.sent: list[str] = []
        self.replies: list[str] = []
        self.stock = 0  # as read last

    def takes(self) -> None:
        """Try once to take the lock."""
        try:
            if not self.lock.acquire(blocking=False):
                self.says("waits")
        except Died:
            self.says("dies")

    def reads(self) -> None:
        self.stock = int(self.store.get("stock") or 0)
        if not self.stock:
            self.says("sold out")

    def writes(self) -> None:
        """What the critical section ends with: the sale."""
        self.store.set("stock", self.stock - 1)
        self.store.rpush("orders", self.name)

    def sells(self) -> None:
        self.reads()
        if self.stock:
            self.writes()

    def reads_fenced(self) -> None:
        """As mode `fenced` does: the store looks at the fencing token."""
        self.stock = int(self.runs("read_fenced", "seen", "stock", f"key:{self.name}")[0])

    def writes_fenced(self) -> None:
        keys = ("seen", "stock", "sales", f"order:{self.name}", f"key:{self.name}")
        if self.runs("write_fenced", *keys, args=(self.stock - 1, f"sale-{self.name}")) == b"BUSY":
            self.says("is refused, and nothing is written")

    def runs(self, script: str, *keys: str, args: tuple[str | int, ...] = ()) -> Any:
        assert isinstance(self.lock, Fenced)
        return self.store.register_script(lua.source(script))(
            keys=keys, args=[self.lock.fence or 0, *args]
        )

    def leaves(self) -> None:
        if not self.lock.release():
            self.says("it was not mine any more")

    def renews(self) -> None:
        """What its recipe does every so often is due."""
        for deed in list(self.clock.deeds):
            if not deed():
                self.clock.deeds.remove(deed)
        if self.lock.lost:
            self.says("knows that it is lost")

    def before(self, command: str, deed: Callable[[], object]) -> None:
        """Let `deed` happen between this buyer's next `command` and the one before it."""
        self.hands[command] = deed

    def dies_before(self, command: str) -> None:
        def die() -> None:
            raise Died

        self.before(command, die)

    def says(self, words: str) -> None:
        self.story.tell(self.name, f"({words})")

    def sending(self, commands: list[tuple[Any, ...]]) -> None:
        for command in commands:
            if hand := self.hands.pop(str(command[0]), None):
                hand()
        self.sent = [written(command) for command in commands]
        self.replies = []

    def answered(self, reply: object) -> None:
        self.replies.append(told(reply))
        if len(self.replies) == len(self.sent):  # of MULTI … EXEC the last one tells all
            self.story.tell(self.name, f"{', '.join(self.sent)} -> {self.replies[-1]}", True)
